import type { FeedLog } from '../../background/feed-log.ts'
import { Fault } from '../../kernel/errors.ts'
import type { DomainSource } from '../../policy/domain.ts'
import type { LivePolicies } from '../../policy/live.ts'
import { signersOf, type Trust } from '../../signing/trust.ts'
import type { RedisClient } from '../redis/redis.ts'
import { createPrepare } from './prepare-offer.ts'
import { createShadowFeed, type ShadowEvaluation, type ShadowFeed } from './shadow/shadow-feed.ts'
import type { ShadowHead } from './shadow/shadow-head.ts'
import { createShadowReports } from './shadow/shadow-reports.ts'
import { createDocumentOffers } from './stored-document.ts'
import type { TrustGate } from './trust-gate.ts'

interface ShadowSourceParts {
  readonly live: LivePolicies
  readonly log: FeedLog
  /** Whose signatures a shadow needs; without it, none. */
  readonly trust?: Trust | undefined
  readonly gate: TrustGate | undefined
  readonly domain: DomainSource | undefined
}

/** The shadow is loaded as the live policy is: what is large, in a thread. */
export function openShadowFeed(
  redis: RedisClient,
  evaluation: ShadowEvaluation,
  { live, log, trust, gate, domain }: ShadowSourceParts,
): ShadowFeed {
  const readOffer = createDocumentOffers(redis, { snapshot: false, gate })
  return createShadowFeed({
    async load(head, signal) {
      if (trust !== undefined) refuseUnfinished(head, trust)
      const verified = await gate?.verify(head)
      const offer = await readOffer(head, { isFirst: false, verified, signal })
      if (offer === undefined) throw missing(head.revision)
      return createPrepare(signal, domain)(offer)
    },
    reports: createShadowReports(redis),
    live: live.revision,
    ...{ evaluation, log },
  })
}

/**
 * People sign a shadow one after the other. Until enough of them have, it is not one that someone
 * planted, so it must not count as a rejection: those raise an alert.
 */
function refuseUnfinished({ revision, signed }: ShadowHead, trust: Trust): void {
  if (signed === undefined) return
  const { trusted, unknown, bad, otherPurpose } = signersOf(signed, 'shadow', trust)
  const isSound = trusted.length > 0 && unknown.length + bad + otherPurpose === 0
  if (!isSound || trusted.length >= trust.signatures) return
  const by = trusted.map(({ name }) => name).join(', ')
  const reason = `${revision} waits for signatures: ${trusted.length} of ${trust.signatures} (${by})`
  throw new Fault('policies', { reason })
}

function missing(revision: string): Fault {
  const reason = `the document of ${revision} is missing: push the shadow again`
  return new Fault('policies', { reason })
}
