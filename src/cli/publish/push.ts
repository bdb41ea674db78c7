import { badArguments, json, policyCommand } from '../command.ts'
import type { Io } from '../io.ts'
import { formatFindings, reviewDirectory } from '../policy/review.ts'
import { formatNotes, formatReport, reportAsJson, runTests } from '../policy/test.ts'
import { policySettings, refuse, withPolicyStore } from '../settings.ts'
import { baseNotWritten, readBase, writeBase } from './base.ts'
import { overProblem } from './over.ts'
import { publishPolicy, reportPublication } from './publish.ts'
import { waitHelp, waitingOf, waitOptions } from './waiting.ts'

const help = `usage: postern policy push -m WHY [DIR] [--yes] [--over REVISION|live] [--author NAME] [--allow-empty] [--wait SECONDS|--no-wait] [--allow-lost] [--output text|json] [--config FILE]

Checks and tests a policy directory, shows what it changes against what is live, asks, publishes it
to Redis, and waits until every known replica decides by it.

It never replaces a revision that you have not seen. Pull and push note in DIR/.postern/base from
which revision of this Redis the files were made. When another one is live, push refuses and says
who published it; files without that note need --over with --yes.

  --over REVISION  publish only over this revision (live: whichever it is)
${waitHelp}
  postern policy push -m 'clerks may cancel orders'
  postern policy push -m 'release 7' ../policies --yes --author ci --over r-3f2a9c81d604
  postern policy push -m 'incident 12: nobody but admin' ../empty --allow-empty
  POSTERN_REDIS__URL=redis://redis:6379 postern policy push -m 'first policy' --no-wait

Exit codes: 0 published and active everywhere (--no-wait: published), 1 not published, or some
replica does not decide by it yet, is lost, or none has reported (the answer says which), 2 bad
arguments, 3 the policy cannot be used, 4 a test failed.
`

/** Publishes a policy directory, if it is sound, tested, wanted, and nobody was faster. */
export const policyPush = policyCommand(
  {
    help,
    options: {
      message: { type: 'string', short: 'm' },
      author: { type: 'string' },
      over: { type: 'string' },
      yes: { type: 'boolean', short: 'y' },
      'allow-empty': { type: 'boolean' },
      ...waitOptions,
    },
    positionals: [0, 1],
  },
  async ({ values, positionals: [named], output }, io) => {
    const message = values.message?.trim() ?? ''
    const waiting = waitingOf(values)
    if (message === '') {
      return badArguments('-m is required: give the reason for this change', { help, io })
    }
    const problem = overProblem(values.over)
    if (problem !== undefined) return badArguments(problem, { help, io })
    if (typeof waiting === 'string') return badArguments(waiting, { help, io })
    const author = authorOf(values.author, io)
    const settings = policySettings(values.config, io)
    const name = named ?? settings.directory

    const review = await reviewDirectory(name, io)
    io.err(formatFindings('error', review.errors) + formatFindings('warning', review.warnings))
    const { admission, note } = settings.admission()
    const tests = runTests(review, admission, io)
    if (tests === undefined || review.set === undefined) {
      if (output === 'json') io.out(json({ ok: false, directory: name, errors: review.errors }))
      return 3
    }
    io.err(formatNotes(tests, note) + formatReport(name, tests))
    if (tests.failures.length > 0) {
      if (output === 'json') io.out(json({ ok: false, ...reportAsJson(review, tests) }))
      return 4
    }
    const { set } = review
    if (set.rules.length === 0 && values['allow-empty'] !== true) {
      return refuse(
        'refused: the policy has no rules, so nobody but admin could do anything; if that is meant, add --allow-empty',
      )
    }

    const { files } = review.directory
    const { yes = false } = values
    const { waitSeconds, allowLost } = waiting
    const place = { directory: name, cwd: io.cwd, redis: settings.redis() }
    const over = { option: values.over, directory: { name, base: await readBase(place) } }
    const publication = {
      ...{ files, set, author, message, yes, over, waitSeconds },
      kind: 'push',
    } as const
    return withPolicyStore(settings, async (store) => {
      const report = await publishPolicy(publication, { store, io })
      if (report === undefined) return refuse('not published')
      const isNoted = await writeBase(place, set.revision)
      if (!isNoted && values.over === undefined) io.err(baseNotWritten(name))
      return reportPublication(report, { output, allowLost }, io)
    })
  },
)

/** Who publishes: the history keeps it. */
export function authorOf(named: string | undefined, io: Io): string {
  const author = (named ?? io.userName ?? '').trim()
  return author === '' ? refuse('the author is empty: name one with --author') : author
}
