import { readText } from '../redis/bounded-reads.ts'
import { retryDuringFailover } from '../redis/failover-timeout.ts'
import { createRedis, type RedisClient, type RedisSettings } from '../redis/redis.ts'
import { type PolicyDocument, parseDocument } from './document/policy-document.ts'
import { type Head, type Move, maxHead, parseHead, policyKeys } from './document/policy-keys.ts'
import { readMoves } from './document/read-moves.ts'
import { readStoredText } from './document/stored-text.ts'
import {
  confirmMove,
  type PublicationOptions,
  publishDocument,
  readIntact,
} from './policy-publication.ts'
import { createProposals } from './proposals/proposals.ts'
import { createReplicas } from './replicas/replicas.ts'
import { createShadowStore, type ShadowPush } from './shadow/shadow-store.ts'

export { createDocument, type PolicyDocument, policyOf } from './document/policy-document.ts'
export type { Head, Move } from './document/policy-keys.ts'
export type { ReplicaReport } from './replicas/replicas.ts'

/** The policies published in Redis. Every method throws a Fault when Redis fails. */
export type PolicyStore = ReturnType<typeof createPolicyStore>

/**
 * Opens the store, or throws a Fault within `connectTimeoutMs`. With `failoverTimeoutMs`, a call
 * during a failover is retried for that long.
 */
export async function openPolicyStore(
  settings: RedisSettings,
  { failoverTimeoutMs = 0 }: { readonly failoverTimeoutMs?: number } = {},
) {
  const redis = createRedis(settings)
  try {
    await redis.connect()
  } catch (error) {
    // The connection keeps trying to open, and the first command waits for it.
    if (failoverTimeoutMs === 0) {
      await redis.close()
      throw error
    }
  }
  return createPolicyStore(redis, failoverTimeoutMs)
}

/** The store on a connection that may be down. */
export function createPolicyStore(redis: RedisClient, failoverTimeoutMs = 0) {
  const keys = policyKeys(redis.prefix)
  const retry = <T>(work: () => Promise<T>) => retryDuringFailover(work, failoverTimeoutMs)
  const retrying: RedisClient = {
    ...redis,
    run: (command) => retry(() => redis.run(command)),
    runBulk: (command) => retry(() => redis.runBulk(command)),
  }
  const replicas = createReplicas(retrying)

  async function head(): Promise<Head | undefined> {
    const text = await readText(redis, keys.head, maxHead)
    return text === undefined ? undefined : parseHead(text, keys.head)
  }

  async function read(revision: string): Promise<PolicyDocument | undefined> {
    const text = await readStoredText(redis, keys.document(revision))
    return text === undefined ? undefined : parseDocument(text, revision)
  }

  const history = (most?: number) => readMoves(redis, most)

  const parts = { redis, head, read, history, failoverTimeoutMs }
  const shadow = createShadowStore(redis, retry)
  return {
    /** `undefined` when nothing was ever published, or Redis lost its data. */
    head: () => retry(head),
    /** A verified document, or `undefined` when it is missing. A broken one is a Fault. */
    read: (revision: string) => retry(() => read(revision)),
    /** The last moves, newest first. */
    history: (most?: number) => retry(() => history(most)),
    /**
     * Moves the head to a document, unless the head is not at the expected revision. Rejects a document
     * whose revision identifies a different policy.
     */
    publish: (
      document: PolicyDocument,
      expected: string | undefined,
      options: PublicationOptions,
    ) => publishDocument(parts, document, expected, options),
    /** Why a failover of Redis could lose what is published; `undefined` when it cannot. */
    async unconfirmed({ sequence }: Head) {
      if (failoverTimeoutMs === 0) return undefined
      const isHead = (move: Move) => move.sequence === sequence
      const { isRecorded, atRisk } = await retry(() => confirmMove(redis, isHead))
      return isRecorded ? atRisk : 'the history does not have it'
    },
    /** Replicas that reported within `policy.replicaMemory`. */
    replicas: replicas.list,
    /** These replicas with the signatures of their policies. */
    reported: replicas.signed,
    /** Removes a replica that no longer runs from that list. */
    forgetReplica: replicas.forget,
    /** Policies that people review before they are published. */
    proposals: createProposals(retrying),
    shadow: {
      ...shadow,
      /** Rejects a document whose revision identifies a different policy. */
      async push(document: PolicyDocument, push: Omit<ShadowPush, 'isReplacing'>) {
        const isReplacing = (await retry(() => readIntact(document, read))) === 'broken'
        return shadow.push(document, { ...push, isReplacing })
      },
    },
    close: redis.close,
  }
}
