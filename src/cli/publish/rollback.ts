import { isRevision } from '../../stores/policies/document/policy-document.ts'
import { badArguments, policyCommand } from '../command.ts'
import { readPublished } from '../policy/versions.ts'
import { policySettings, refuse, withPolicyStore } from '../settings.ts'
import { overProblem } from './over.ts'
import { publishPolicy, reportPublication } from './publish.ts'
import { authorOf } from './push.ts'
import { waitHelp, waitingOf, waitOptions } from './waiting.ts'

const help = `usage: postern policy rollback REVISION [-m WHY] [--yes] [--over REVISION|live] [--author NAME] [--wait SECONDS|--no-wait] [--allow-lost] [--output text|json] [--config FILE]

Puts a revision that was published before in force again, as a new entry of the history. Shows what
that changes against what is live, asks, and waits until every known replica decides by it. The
first twelve digits of a revision are enough.

  --over REVISION  roll back only if this revision is live
${waitHelp}
  postern policy history                             which revisions there are
  postern policy rollback r-3f2a9c81d604
  postern policy rollback r-3f2a9c81d604 -m 'incident 12' --yes --author oncall

Exit codes: 0 active everywhere (--no-wait: published), 1 not published, or some replica does not
decide by it yet, is lost, or none has reported, 2 bad arguments.
`

/** Publishes an old revision again. */
export const policyRollback = policyCommand(
  {
    help,
    options: {
      message: { type: 'string', short: 'm' },
      author: { type: 'string' },
      over: { type: 'string' },
      yes: { type: 'boolean', short: 'y' },
      ...waitOptions,
    },
    positionals: [1, 1],
  },
  async ({ values, positionals: [revision = ''], output }, io) => {
    const waiting = waitingOf(values)
    if (!isRevision(revision)) return badArguments(`not a revision: ${revision}`, { help, io })
    const problem = overProblem(values.over)
    if (problem !== undefined) return badArguments(problem, { help, io })
    if (typeof waiting === 'string') return badArguments(waiting, { help, io })
    const { waitSeconds, allowLost } = waiting
    const { yes = false } = values
    const author = authorOf(values.author, io)
    const over = { option: values.over }
    return withPolicyStore(policySettings(values.config, io), async (store) => {
      const { files, set } = await readPublished(revision, store)
      const message = values.message ?? `back to ${set.revision}`
      const report = await publishPolicy(
        { ...{ files, set, author, message, yes, over, waitSeconds }, kind: 'rollback' },
        { store, io },
      )
      if (report === undefined) return refuse('not published')
      return reportPublication(report, { output, allowLost }, io)
    })
  },
)
