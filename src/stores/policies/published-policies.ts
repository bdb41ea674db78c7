import { Fault } from '../../errors.ts'
import type { RedisClient, RedisSettings } from '../redis/redis.ts'
import { createSubscriber, type RedisSubscriber } from '../redis/redis-subscriber.ts'
import { parseDocument } from './document/policy-document.ts'
import { type Head, policyKeys } from './document/policy-keys.ts'
import type { Known, LargeOffer, Offer, PolicySource } from './policy-source.ts'
import { createPolicyStore } from './policy-store.ts'
import { createPolicyThreads, largeBytes } from './policy-threads.ts'
import { readPieces } from './stored-document.ts'

/**
 * The policies in Redis as a source. Only what the head names is loaded, complete and verified; a
 * head that is missing, or not above the sequence that is known, is an error and never "no rules".
 * The messages are hints: they may be lost, come early or in any order.
 *
 * A Redis that lost its data, or went back to an older copy, is fixed by pushing again: the sequence
 * of a publication is above every active one.
 */
export function createPublishedPolicies(
  redis: RedisClient,
  settings: RedisSettings,
  { snapshot }: PublishedOptions = { snapshot: false },
): PolicySource {
  const store = createPolicyStore(redis)
  const keys = policyKeys(redis.prefix)
  const threads = createPolicyThreads()
  let subscriber: RedisSubscriber | undefined

  async function offerOf(
    pieces: readonly Uint8Array[],
    { revision, sequence }: Head,
    { isFirst, signal }: { readonly isFirst: boolean; readonly signal: AbortSignal | undefined },
  ): Promise<Offer | LargeOffer> {
    // At the start there are no requests to delay.
    if (sizeOf(pieces) < largeBytes || isFirst || !threads.usable()) {
      const { files, checksum } = parseDocument(Buffer.concat(pieces).toString(), revision)
      return { files, checksum, revision, sequence }
    }
    const order = { kind: 'document', pieces, revision, sequence, snapshot } as const
    const loading = threads.start(order, signal)
    return { loading, checksum: await loading.verified, revision, sequence }
  }

  return {
    name: 'redis',
    async read(known, signal) {
      const head = await store.head()
      if (head === undefined) throw unusable(`${keys.head} is missing`)
      if (known?.sequence !== undefined) {
        // A failover can lose a move and leave the same policy under an earlier one: that confirms it.
        const isNew = head.sequence > known.sequence
        if (!isNew && head.revision === known.revision) return undefined
        if (!isNew) throw unusable(older(head.revision, known))
      }

      const pieces = await readPieces(redis, keys.document(head.revision))
      if (pieces === undefined) throw unusable(`${keys.document(head.revision)} is missing`)
      return offerOf(pieces, head, { isFirst: known === undefined, signal })
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
}

function sizeOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((size, { length }) => size + length, 0)
}

function older(revision: string, known: Known): string {
  return `the head points to ${revision}, which is older than ${known.revision}`
}

function unusable(what: string): Fault {
  return new Fault('policies', { reason: `${what}: publish with "postern policy push"` })
}
