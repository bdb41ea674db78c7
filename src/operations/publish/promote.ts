import { obstaclesTo, promotionEvidence } from '../../policy/shadow/promotion.ts'
import { policyOf } from '../../stores/policies/policy-store.ts'
import { decline, Refused } from '../declined.ts'
import { durationMs } from '../duration.ts'
import type { InputOf, ReviewOf } from '../operation.ts'
import { withPolicyStore } from '../policy-settings.ts'
import { soleAuthorOf } from './author.ts'
import { notedEngine } from './candidate.ts'
import type { policyPromote } from './descriptions.ts'
import { findShadow, type ObservedShadow, refuseFiles } from './observed-shadow.ts'
import { checkOver, checkRevision, reviewPublishing, waitingOf } from './publishing.ts'
import { reviewProposal } from './push.ts'
import { type ReviewIo, refuseBroken, withRemarks } from './review.ts'

type PromoteInput = InputOf<typeof policyPromote.input>

/** Makes the shadow live, if its evidence allows it. */
export const review: ReviewOf<typeof policyPromote> = (input, caller) =>
  withRemarks(caller, async (reviewing) => {
    const { revision, after } = input
    checkRevision(revision)
    checkOver(input.over)
    const { allowLost } = waitingOf(input)
    const afterMs = after === undefined ? 0 : durationMs('after', after)
    const { settings, tell } = reviewing
    refuseFiles(settings)
    const terms = { afterMs, maxWouldDeny: input['max-would-deny'], allowLost }

    const shadow = await withPolicyStore(settings, (store) => findShadow(revision, store))
    const { evidence } = shadow
    tell({ shadow })
    const obstacles = obstaclesTo(evidence, terms)
    if (obstacles.length > 0) {
      tell({ obstacles, terms })
      throw new Refused({ document: { ok: false, obstacles, evidence }, outcome: 'no' })
    }
    return reviewPromotion(shadow, input, reviewing)
  })

async function reviewPromotion(
  { head, evidence: observed }: ObservedShadow,
  input: PromoteInput,
  reviewing: ReviewIo,
) {
  const { revision, base } = head
  const { settings } = reviewing
  const evidence = promotionEvidence(observed)
  const trust = settings.trust()
  if (trust !== undefined && trust.signatures > 1) {
    // One person cannot sign for all: what is promoted is the proposal that others approved.
    const proposal = await withPolicyStore(settings, (store) => store.proposals.read(revision))
    if (proposal !== undefined) {
      return reviewProposal(revision, input, reviewing, { kind: 'promote', evidence })
    }
    return decline(
      `refused: policy.trust requires ${trust.signatures} signatures for the live policy: run "postern policy propose ${revision} -m WHY --key FILE", have others approve it, then promote it again`,
    )
  }
  const sole = await soleAuthorOf(input, revision, reviewing)
  return reviewPublishing(
    async ({ store }) => {
      const document = await store.read(revision)
      if (document === undefined) {
        return decline(`refused: Redis lost the document of ${revision}: push the shadow again`)
      }
      const set = policyOf(document)
      refuseBroken(set, reviewing)
      return {
        ...{ ...sole, files: document.files, set, kind: 'promote', evidence },
        message: input.message ?? head.message,
        over: { option: input.over, directory: { name: 'the shadow', base } },
        engine: notedEngine(set, reviewing),
      }
    },
    { input, reviewing },
  )
}
