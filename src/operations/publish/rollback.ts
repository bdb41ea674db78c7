import type { ReviewOf } from '../operation.ts'
import { readPublished } from '../policy/versions.ts'
import { soleAuthorOf } from './author.ts'
import { notedEngine } from './candidate.ts'
import type { policyRollback } from './descriptions.ts'
import { checkOver, checkRevision, reviewPublishing, waitingOf } from './publishing.ts'
import { withRemarks } from './review.ts'

/** Publishes an earlier revision again. */
export const review: ReviewOf<typeof policyRollback> = (input, caller) =>
  withRemarks(caller, async (reviewing) => {
    const { revision, message, over } = input
    checkRevision(revision)
    checkOver(over)
    waitingOf(input)
    const { settings, context } = reviewing
    const sole = await soleAuthorOf(input, revision, reviewing)
    return reviewPublishing(
      async ({ store }) => {
        const { files, set } = await readPublished(revision, { store, settings, io: context })
        return {
          ...{ ...sole, files, set, kind: 'rollback', over: { option: over } },
          message: message ?? `back to ${set.revision}`,
          // Not refused: the revision was live before, and an incident does not wait for another option.
          engine: notedEngine(set, reviewing),
        }
      },
      { input, reviewing },
    )
  })
