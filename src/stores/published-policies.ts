import { Fault } from '../errors.ts'
import { createPolicyStore } from './policies.ts'
import { policyKeys } from './policy-keys.ts'
import type { Known, Offer, PolicySource } from './policy-source.ts'
import type { RedisClient, RedisSettings } from './redis.ts'
import { createSubscriber, type RedisSubscriber } from './redis-subscriber.ts'

/**
 * The policies in Redis as a source. Only what the head names is taken, whole and verified; a head
 * that is missing, or not above the sequence that is known, is an error and never "no rules". The
 * messages are hints: they may be lost, come early or in any order.
 *
 * A Redis that lost its data, or went back to an older copy, is mended by pushing again: a
 * publication is always above whatever was in force.
 */
export function createPublishedPolicies(redis: RedisClient, settings: RedisSettings): PolicySource {
  const store = createPolicyStore(redis)
  const keys = policyKeys(redis.prefix)
  let subscriber: RedisSubscriber | undefined

  return {
    name: 'redis',
    async read(known): Promise<Offer | undefined> {
      const head = await store.head()
      if (head === undefined) throw unusable(`${keys.head} is missing`)
      if (known?.sequence !== undefined) {
        if (head.sequence === known.sequence && head.revision === known.revision) return undefined
        if (head.sequence <= known.sequence) throw unusable(older(head.revision, known))
      }

      const document = await store.read(head.revision)
      if (document === undefined) throw unusable(`${keys.document(head.revision)} is missing`)
      const { files, checksum, revision } = document
      return { files, checksum, revision, sequence: head.sequence }
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

function older(revision: string, known: Known): string {
  return `the head names ${revision}, which is older than ${known.revision}`
}

function unusable(what: string): Fault {
  return new Fault('policies', { reason: `${what}: publish with "postern policy push"` })
}
