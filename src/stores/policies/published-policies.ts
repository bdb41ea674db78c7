import { Fault } from '../../kernel/errors.ts'
import { readTexts } from '../redis/bounded-reads.ts'
import type { RedisClient, RedisSettings } from '../redis/redis.ts'
import { createSubscriber, type RedisSubscriber } from '../redis/redis-subscriber.ts'
import { type Move, maxHead, parseHead, policyKeys } from './document/policy-keys.ts'
import { readMoves } from './document/read-moves.ts'
import type { Known, PolicySource } from './policy-source.ts'
import { createDocumentOffers } from './stored-document.ts'
import type { TrustGate } from './trust-gate.ts'

/**
 * The policies in Redis as a source. Only what the head names is loaded, complete and verified; a
 * head that is missing, or not above the sequence that is known, is an error and never "no rules".
 * The messages are hints: they may be lost, come early or in any order.
 *
 * A Redis that lost its data, or went back to an older copy, is fixed by pushing again: the sequence
 * of a publication is above every active one.
 *
 * With a gate, what is stored in Redis is not believed: only a signed statement moves this gateway.
 */
export function createPublishedPolicies(
  redis: RedisClient,
  settings: RedisSettings,
  { snapshot, gate, onShadow = () => {}, recorded = async () => [] }: PublishedOptions = {
    snapshot: false,
  },
): PolicySource {
  const keys = policyKeys(redis.prefix)
  const readOffer = createDocumentOffers(redis, { snapshot, gate })
  let subscriber: RedisSubscriber | undefined

  /** What this gateway missed: Redis has it, or lost it and the database has it. */
  async function* earlier() {
    yield (await readMoves(redis)).map(({ signed }) => signed)
    yield (await recorded()).map(({ signed }) => signed)
  }

  return {
    name: 'redis',
    async read(known, signal) {
      const [text, shadow] = await readTexts(redis, [keys.head, keys.shadow], maxHead)
      onShadow(shadow)
      if (text === undefined) throw unusable(`${keys.head} is missing`)
      const head = parseHead(text, keys.head)
      const verified = await gate?.verify(head, known?.verified, earlier)
      if (verified !== undefined) {
        // Redis chooses the sequence, so with signatures only their statements have an order.
        const isNew = verified !== known?.verified || head.sequence > (known.sequence ?? 0)
        if (!isNew) return undefined
      } else if (known?.sequence !== undefined) {
        // A failover can lose a move and leave the same policy under an earlier one: that confirms it.
        const isNew = head.sequence > known.sequence
        if (!isNew && head.revision === known.revision) return undefined
        if (!isNew) throw unusable(older(head.revision, known))
      }

      const offer = await readOffer(head, { isFirst: known === undefined, verified, signal })
      if (offer === undefined) throw unusable(`${keys.document(head.revision)} is missing`)
      return offer
    },
    watch(onHint) {
      redis.onReady(onHint)
      subscriber = createSubscriber(settings, { channel: keys.channel, onHint })
    },
    check: async () => subscriber?.check(),
    async close() {
      subscriber?.close()
    },
  }
}

interface PublishedOptions {
  /** Whether to create snapshots. */
  readonly snapshot: boolean
  /** Called at each read with the shadow that Redis has, if any, before the policy is loaded. */
  readonly onShadow?: (stored: string | undefined) => void
  /** Without it, policies need no signatures. */
  readonly gate?: TrustGate | undefined
  /** The history that the database has. */
  readonly recorded?: (() => Promise<readonly Move[]>) | undefined
}

function older(revision: string, known: Known): string {
  return `the head points to ${revision}, which is older than ${known.revision}`
}

function unusable(what: string): Fault {
  return new Fault('policies', { reason: `${what}: publish with "postern policy push"` })
}
