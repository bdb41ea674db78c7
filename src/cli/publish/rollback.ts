import { decline } from '../../operations/declined.ts'
import { policySettings, withPolicyStore } from '../../operations/policy-settings.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
import { type Run, UsageError } from '../command.ts'
import { reportEngine, slowNote } from '../policy/engine-cost.ts'
import { readPublished } from '../policy/versions.ts'
import { checkOver } from './over.ts'
import { publishPolicy, reportPublication } from './publish.ts'
import { authorOf } from './push.ts'
import { ownSigning } from './signing.ts'
import type { rollbackSpec } from './specs.ts'
import { waitingOf } from './waiting.ts'

/** Publishes an earlier revision again. */
export const policyRollback: Run<typeof rollbackSpec> = async (call, io) => {
  const {
    options,
    arguments: [revision],
  } = call
  const { output, yes } = options
  if (!isRevision(revision))
    throw new UsageError(
      `REVISION: ${JSON.stringify(revision)} is not a revision such as r-3f2a9c81d604`,
    )
  checkOver(options.over)
  const { waitSeconds, allowLost, replicas } = waitingOf(options)
  const over = { option: options.over }
  const settings = policySettings(options.config, io)
  const { admission } = settings.admission()
  const signing = await ownSigning(options.key, settings.trust(), { proposed: revision, io })
  const author = authorOf(options.author, signing.signer, io)
  return withPolicyStore(settings, async (store) => {
    const { files, set } = await readPublished(revision, { store, settings, io })
    // Not refused: the revision was live before, and an incident does not wait for another option.
    const engine = reportEngine(set, io)
    io.err(slowNote(engine))
    const message = options.message ?? `back to ${set.revision}`
    const report = await publishPolicy(
      {
        ...{ files, set, engine, author, message, yes, over, waitSeconds, replicas, admission },
        signing,
        replay: options.replay,
        kind: 'rollback',
      },
      { store, io },
    )
    if (report === undefined) return decline('not published')
    return reportPublication(report, { output, allowLost }, io)
  })
}
