import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '../../kernel/errors.ts'
import { isSamePolicy } from '../../policy/review/same-policy.ts'
import type { Signed } from '../../signing/statement.ts'
import { retryDuringFailover } from '../redis/failover-timeout.ts'
import type { RedisClient } from '../redis/redis.ts'
import { formatDocument, type PolicyDocument, policyOf } from './document/policy-document.ts'
import {
  type Evidence,
  type Head,
  type Move,
  type MoveKind,
  parseHead,
  parseMove,
  policyKeys,
} from './document/policy-keys.ts'
import { publishScript } from './document/publish-script.ts'
import { HISTORY } from './document/read-moves.ts'

/** The head moved, or it was not at the expected revision. */
type Published =
  | {
      readonly moved: true
      readonly head: Head
      /** Why a failover of Redis could still lose it, if so. */
      readonly unconfirmed?: string
    }
  | { readonly moved: false; readonly head: Head | undefined }

/** What goes with a document into the head and the history. */
export interface PublicationOptions {
  readonly kind: MoveKind
  /** Goes into the head too, where gateways verify it. */
  readonly signed?: Signed
  readonly evidence?: Evidence
  /** The host of the publisher, for the audit log. */
  readonly origin?: string
  /** The publisher, if the document is the proposal of another author. */
  readonly publisher?: string
}

interface PublicationParts {
  readonly redis: RedisClient
  /** These read once: the publication decides how long to retry. */
  readonly head: () => Promise<Head | undefined>
  readonly read: (revision: string) => Promise<PolicyDocument | undefined>
  readonly history: (most?: number) => Promise<readonly Move[]>
  /** 0: no failover to wait for. */
  readonly failoverTimeoutMs: number
}

/** Publishes a document, from an expected head. */
export async function publishDocument(
  { redis, head: readHead, read, history, failoverTimeoutMs }: PublicationParts,
  document: PolicyDocument,
  expected: string | undefined,
  { kind, signed, evidence, origin, publisher }: PublicationOptions,
): Promise<Published> {
  const { revision, author, message } = document
  /** Redis adds the sequence and the time. */
  const move: Omit<Move, 'sequence' | 'at'> & { readonly id: string } = {
    ...{ id: randomUUID(), revision, author, message, kind },
    ...(signed !== undefined && { signed }),
    ...(evidence !== undefined && { evidence }),
    ...(origin !== undefined && { origin }),
    ...(publisher !== undefined && { publisher }),
  }
  const retry = <T>(work: () => Promise<T>) => retryDuringFailover(work, failoverTimeoutMs)
  const isReplacing = await retry(mustReplaceDocument)
  const moves = await retry(() => history(HISTORY))
  let made: Published | undefined
  let hasMoved = false
  try {
    return await retry(async () => {
      // Only a lost move is made again: someone may have rolled back the one that Redis has.
      made ??= await attempt()
      if (!made.moved || failoverTimeoutMs === 0) return made
      hasMoved = true
      const { isRecorded, atRisk } = await confirmMove(redis, ({ id }) => id === move.id)
      // Another server than the one that made the move may have confirmed it.
      if (!isRecorded) {
        made = undefined
        throw lostInFailover()
      }
      return { ...made, ...(atRisk !== undefined && { unconfirmed: atRisk }) }
    })
  } catch (error) {
    throw hasMoved ? unconfirmedFault(error) : error
  }

  /**
   * Signatures are about one document: another one of the same policy, with another author or time,
   * would not be theirs.
   */
  async function mustReplaceDocument(): Promise<boolean> {
    const present = await readIntact(document, read)
    if (present === undefined || present === 'broken') return present === 'broken'
    return signed !== undefined && present.checksum !== document.checksum
  }

  async function attempt(): Promise<Published> {
    const keys = policyKeys(redis.prefix)
    const touched = [
      ...[keys.head, keys.document(revision), keys.history, keys.highest],
      ...[keys.shadow, keys.shadowReplicas, keys.shadowReports],
      ...revisionsToDelete(moves, [revision, expected]).map(keys.document),
    ]
    const values = [
      expected ?? '',
      revision,
      formatDocument(document),
      isReplacing ? '1' : '0',
      JSON.stringify(move),
      keys.channel,
      HISTORY,
      JSON.stringify({ author, signed }),
    ]
    try {
      const [moved, text] = (await redis.runBulk((commands) =>
        commands.eval(publishScript, touched.length, ...touched, ...values),
      )) as [number, string]
      const head = text === '' ? undefined : parseHead(text, keys.head)
      if (moved === 1 && head !== undefined) return { moved: true, head }
      // On a retry, the head may have moved because the first attempt arrived after all.
      const mayBeOurs = head?.revision === revision && expected !== revision
      return (mayBeOurs && (await madeMove())) || { moved: false, head }
    } catch (error) {
      // The reply was lost; the publication may have succeeded.
      const published = await madeMove()
      if (published === undefined) throw error
      return published
    }
  }

  /** The result of this publication, if its move is the last one. */
  async function madeMove(): Promise<Published | undefined> {
    const last = await lastMove()
    if (last?.id !== move.id) return undefined
    const { sequence } = last
    const head = { revision, sequence, author, ...(signed !== undefined && { signed }) }
    return { moved: true, head }
  }

  /**
   * The last move, if the head reached it: a script that fails half-way leaves what it has written.
   * Retries for a second: after a lost reply the connection may have to be opened again.
   */
  async function lastMove(): Promise<Move | undefined> {
    for (let left = 10; left > 0; left--) {
      try {
        const [last] = await history(1)
        const reached = (await readHead())?.sequence ?? 0
        return last !== undefined && reached >= last.sequence ? last : undefined
      } catch (error) {
        // Without a cause, Redis answered, and the head is not a valid one.
        if (error instanceof Fault && error.cause === undefined) return undefined
        await pause(100)
      }
    }
    return undefined
  }
}

/** Whether the history has a move, and why a failover could lose it, if so. */
export async function confirmMove(
  redis: RedisClient,
  isMeant: (move: Move) => boolean,
): Promise<{ readonly isRecorded: boolean; readonly atRisk: string | undefined }> {
  const { values, atRisk } = await redis.readReplicated(policyKeys(redis.prefix).history)
  const moves = values.flatMap((text) => parseMove(text) ?? [])
  return { isRecorded: moves.some(isMeant), atRisk }
}

/** A Fault that `retryDuringFailover` retries. */
function lostInFailover(): Fault {
  const cause = new Error('the primary failed over before a replica had the policy')
  return new Fault('redis', { cause, reason: `Redis: ${cause.message}` })
}

/** For a failure after the move was made: a later failover decides whether it stays. */
function unconfirmedFault(error: unknown): unknown {
  if (!(error instanceof Fault)) return error
  const reason = `${error.message}; the policy was published but is not confirmed: run "postern policy history" to see whether Redis kept it`
  return new Fault(error.part, { cause: error.cause, reason })
}

/**
 * The stored document of the same revision, which scripts keep unless it is broken. Throws a Fault
 * when it is a different policy.
 */
export async function readIntact(
  document: PolicyDocument,
  read: (revision: string) => Promise<PolicyDocument | undefined>,
): Promise<PolicyDocument | 'broken' | undefined> {
  try {
    const present = await read(document.revision)
    if (present !== undefined) rejectDifferentPolicy(present, document)
    return present
  } catch (error) {
    if (error instanceof Fault && error.part === 'policies') throw error
    // A Fault without a cause is about the content, and so is WRONGTYPE.
    const cause = error instanceof Fault ? error.cause : error
    if (cause === undefined || String(cause).includes('WRONGTYPE')) return 'broken'
    throw error
  }
}

function rejectDifferentPolicy(present: PolicyDocument, document: PolicyDocument): void {
  if (isSamePolicy(policyOf(present), policyOf(document))) return
  const reason = `revision ${document.revision} already identifies a different policy: change any line and push again`
  throw new Fault('policies', { reason })
}

/** The revisions that no move in the history will name after one more move. */
function revisionsToDelete(
  moves: readonly Move[],
  needed: readonly (string | undefined)[],
): readonly string[] {
  const recent = new Set([
    ...moves.slice(0, HISTORY - 1).map(({ revision }) => revision),
    ...needed,
  ])
  const oldest = moves.slice(HISTORY - 1).map(({ revision }) => revision)
  return [...new Set(oldest)].filter((revision) => !recent.has(revision))
}
