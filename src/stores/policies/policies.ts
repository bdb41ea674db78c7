import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '../../errors.ts'
import { isSamePolicy } from '../../policy/review/same-policy.ts'
import { patiently } from '../redis/failover-timeout.ts'
import { createRedis, type RedisClient, type RedisSettings } from '../redis/redis.ts'
import {
  formatDocument,
  type PolicyDocument,
  parseDocument,
  policyOf,
} from './document/policy-document.ts'
import { type Head, type Move, parseHead, parseMove, policyKeys } from './document/policy-keys.ts'
import { publishScript } from './document/publish-script.ts'
import { createReplicas, type ReplicaReport } from './replicas/replicas.ts'

export { createDocument, type PolicyDocument, policyOf } from './document/policy-document.ts'
export type { Head, Move } from './document/policy-keys.ts'
export type { ReplicaReport } from './replicas/replicas.ts'

/** What came of a publication: the head moved, or somebody else had moved it before. */
type Published =
  | {
      readonly moved: true
      readonly head: Head
      /** Why a failover of Redis could still lose it, if so. */
      readonly unconfirmed?: string
    }
  | { readonly moved: false; readonly head: Head | undefined }

/** The policies as they are published in Redis. Every method throws a Fault when Redis fails. */
export interface PolicyStore {
  /** What is in force; `undefined` when nothing was ever published, or Redis lost its data. */
  head(): Promise<Head | undefined>
  /** A document, verified; `undefined` when there is none. A broken one is a Fault. */
  read(revision: string): Promise<PolicyDocument | undefined>
  /**
   * Puts a document in force, unless the head is no longer the revision that was expected. Refuses
   * one whose revision is already the name of another policy.
   */
  publish(
    document: PolicyDocument,
    expected: string | undefined,
    kind: Move['kind'],
  ): Promise<Published>
  /** Why a failover of Redis could lose what is published; `undefined` when it cannot. */
  unconfirmed(head: Head): Promise<string | undefined>
  /** The last moves, newest first. */
  history(most?: number): Promise<readonly Move[]>
  /** Those that reported in the last day. */
  replicas(): Promise<readonly ReplicaReport[]>
  /** Takes a replica that no longer runs off that list. */
  forgetReplica(id: string): Promise<void>
  close(): Promise<void>
}

/** How many moves are remembered. Documents that none of them names are deleted. */
const HISTORY = 500

/**
 * Opens the store, or throws a Fault in no more than `connectTimeoutMs`. With `patienceMs`, whatever
 * meets a failover is tried again for that long.
 */
export async function openPolicyStore(
  settings: RedisSettings,
  { patienceMs = 0 }: { readonly patienceMs?: number } = {},
): Promise<PolicyStore> {
  const redis = createRedis(settings)
  try {
    await redis.connect()
  } catch (error) {
    // The connection goes on trying to open, and the first command waits for it.
    if (patienceMs === 0) {
      await redis.close()
      throw error
    }
  }
  return createPolicyStore(redis, patienceMs)
}

/** The store on a connection that may also be down at the moment. */
export function createPolicyStore(redis: RedisClient, patienceMs = 0): PolicyStore {
  const keys = policyKeys(redis.prefix)
  const run: RedisClient['run'] = (command) => patiently(() => redis.run(command), patienceMs)
  const runBulk: RedisClient['runBulk'] = (command) =>
    patiently(() => redis.runBulk(command), patienceMs)
  const replicas = createReplicas({ ...redis, run })

  async function head(): Promise<Head | undefined> {
    const text = await run((commands) => commands.get(keys.head))
    return text === null ? undefined : parseHead(text, keys.head)
  }

  async function read(revision: string): Promise<PolicyDocument | undefined> {
    const text = await runBulk((commands) => commands.get(keys.document(revision)))
    return text === null ? undefined : parseDocument(text, revision)
  }

  async function history(most = HISTORY): Promise<readonly Move[]> {
    const texts = await run((commands) => commands.lrange(keys.history, 0, most - 1))
    return texts.flatMap((text) => parseMove(text) ?? [])
  }

  /** A document that is there but broken must not stay for being there first. */
  async function isBroken(document: PolicyDocument): Promise<boolean> {
    try {
      const present = await read(document.revision)
      if (present !== undefined) refuseOther(present, document)
      return false
    } catch (error) {
      if (error instanceof Fault && error.part === 'policies') throw error
      // Without a cause it is the content that is at fault; WRONGTYPE says the same.
      const cause = error instanceof Fault ? error.cause : error
      if (cause === undefined || String(cause).includes('WRONGTYPE')) return true
      throw error
    }
  }

  /**
   * The last move, if the head made it: a script that fails on its way leaves what it has written.
   * Tries for a second or so: after a lost answer the connection may have to be opened again.
   */
  async function lastMove(): Promise<Move | undefined> {
    for (let left = 10; left > 0; left--) {
      try {
        const [last] = await history(1)
        const reached = (await head())?.sequence ?? 0
        return last !== undefined && reached >= last.sequence ? last : undefined
      } catch (error) {
        // Without a cause Redis answers, and what it holds is no head.
        if (error instanceof Fault && error.cause === undefined) return undefined
        await pause(100)
      }
    }
    return undefined
  }

  async function publish(
    document: PolicyDocument,
    expected: string | undefined,
    kind: Move['kind'],
  ): Promise<Published> {
    const { revision, author, message } = document
    const broken = await isBroken(document)
    const moves = await history(HISTORY)
    const forgotten = fallingOut(moves, [revision, expected]).map(keys.document)
    const move = { revision, author, message, at: new Date().toISOString(), kind }
    const touched = [keys.head, keys.document(revision), keys.history, keys.highest, ...forgotten]
    const values = [
      expected ?? '',
      revision,
      formatDocument(document),
      broken ? '1' : '0',
      JSON.stringify(move),
      keys.channel,
      HISTORY,
    ]

    async function attempt(): Promise<Published> {
      try {
        const [moved, text] = (await redis.runBulk((commands) =>
          commands.eval(publishScript, touched.length, ...touched, ...values),
        )) as [number, string]
        const found = text === '' ? undefined : parseHead(text, keys.head)
        if (moved === 1 && found !== undefined) return { moved: true, head: found }
        // At a second attempt the head may have moved because the first one arrived after all.
        if (found?.revision !== revision || expected === revision) {
          return { moved: false, head: found }
        }
        return (await made()) ?? { moved: false, head: found }
      } catch (error) {
        // The answer was lost, not necessarily the publication.
        const ours = await made()
        if (ours === undefined) throw error
        return ours
      }
    }
    /** What this publication did, if its move is the last one. */
    async function made(): Promise<Published | undefined> {
      const last = await lastMove()
      if (last?.revision !== revision || last.at !== move.at || last.author !== author) {
        return undefined
      }
      return { moved: true, head: { revision, sequence: last.sequence } }
    }
    let hasMoved = false
    try {
      return await patiently(async () => {
        const published = await attempt()
        if (!published.moved || patienceMs === 0) return published
        hasMoved = true
        const isOurs = (each: Move) => each.revision === revision && each.at === move.at
        const { isRecorded, atRisk } = await confirm(isOurs)
        // The server that has confirmed it may be another than the one that made the move.
        if (!isRecorded) throw lostInFailover()
        return { ...published, ...(atRisk !== undefined && { unconfirmed: atRisk }) }
      }, patienceMs)
    } catch (error) {
      throw hasMoved ? notKnown(error) : error
    }
  }

  /** Whether Redis has a move, and why a failover could lose it, if so. */
  async function confirm(
    isMeant: (move: Move) => boolean,
  ): Promise<{ readonly isRecorded: boolean; readonly atRisk: string | undefined }> {
    const { values, atRisk } = await redis.readReplicated(keys.history)
    const isRecorded = values.some((text) => {
      const move = parseMove(text)
      return move !== undefined && isMeant(move)
    })
    return { isRecorded, atRisk }
  }

  async function unconfirmed({ sequence }: Head): Promise<string | undefined> {
    if (patienceMs === 0) return undefined
    const { isRecorded, atRisk } = await patiently(
      () => confirm((move) => move.sequence === sequence),
      patienceMs,
    )
    return isRecorded ? atRisk : 'the history does not have it'
  }

  return {
    head,
    read,
    publish,
    unconfirmed,
    history,
    replicas: replicas.list,
    forgetReplica: replicas.forget,
    close: redis.close,
  }
}

/** Worth another try, as everything that a failover causes. */
function lostInFailover(): Fault {
  const cause = new Error('the primary failed over before a replica had the policy')
  return new Fault('redis', { cause, reason: `Redis: ${cause.message}` })
}

/** For a failure after the move was made: a later failover decides whether it stays. */
function notKnown(error: unknown): unknown {
  if (!(error instanceof Fault)) return error
  const reason = `${error.message}; the policy was published but is not confirmed: run "postern policy history" to see whether Redis kept it`
  return new Fault(error.part, { cause: error.cause, reason })
}

/** What was published under a revision stays in force under it: it has to be what is published now. */
function refuseOther(present: PolicyDocument, document: PolicyDocument): void {
  if (isSamePolicy(policyOf(present), policyOf(document))) return
  const reason = `${document.revision} is already the name of another policy: change any line and push again`
  throw new Fault('policies', { reason })
}

/** The revisions that no remembered move will name once there is one more. */
function fallingOut(
  moves: readonly Move[],
  needed: readonly (string | undefined)[],
): readonly string[] {
  const kept = new Set([...moves.slice(0, HISTORY - 1).map(({ revision }) => revision), ...needed])
  const oldest = moves.slice(HISTORY - 1).map(({ revision }) => revision)
  return [...new Set(oldest)].filter((revision) => !kept.has(revision))
}
