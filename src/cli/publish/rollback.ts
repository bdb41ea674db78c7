import { readPublished } from '../../operations/policy/versions.ts'
import { policySettings, withPolicyStore } from '../../operations/policy-settings.ts'
import type { Run } from '../command.ts'
import { notedEngine } from './candidate.ts'
import { checkOver, checkRevision, publishPolicy, waitingOf } from './publish.ts'
import { soleAuthorOf } from './signer.ts'
import type { rollbackSpec } from './specs.ts'

/** Publishes an earlier revision again. */
export const policyRollback: Run<typeof rollbackSpec> = async (
  { options, arguments: [revision] },
  io,
) => {
  checkRevision(revision)
  checkOver(options.over)
  const waiting = waitingOf(options)
  const settings = policySettings(options.config, io)
  const sole = await soleAuthorOf(options, settings.trust(), { proposed: revision, io })
  return withPolicyStore(settings, async (store) => {
    const { files, set } = await readPublished(revision, { store, settings, io })
    const publication = {
      ...{ ...sole, files, set, kind: 'rollback' as const },
      message: options.message ?? `back to ${set.revision}`,
      over: { option: options.over },
      // Not refused: the revision was live before, and an incident does not wait for another option.
      engine: notedEngine(set, io),
    }
    return publishPolicy(publication, options, { waiting, settings, store, io })
  })
}
