import { BoundedQueue } from '../../background/bounded-queue.ts'
import type { FeedLog } from '../../background/feed-log.ts'
import { createOutbox } from '../../background/outbox.ts'
import type { VerifiedToken } from '../../token/tokens.ts'
import {
  longest,
  SESSIONS_AT_ONCE,
  type SeenSession,
  type Session,
  type SessionName,
  type SessionStore,
} from './session-store.ts'

/** Records sessions beside requests: nothing here throws or makes a caller wait. */
export type SessionRecorder = ReturnType<typeof createSessionRecorder>

interface RecorderParts {
  readonly store: SessionStore
  /** Stores when tokens of programs were last used. */
  readonly markServices?: ((seen: readonly SeenSession[]) => Promise<void>) | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly log: FeedLog
}

/** Tokens of programs are always in the database, sessions of people also in Redis. */
type Where = 'sessions' | 'services'

/** Between half of it and all of it passes between two writes of what was seen. */
const SEEN_MS = 60_000
/** Sessions that wait for a store; a few megabytes. */
const MOST_WAITING = 10_000
const limits = {
  most: MOST_WAITING,
  drops: 'newest',
  batchSize: SESSIONS_AT_ONCE,
  keyOf: ({ id }: SessionName) => id,
} as const

/**
 * A login writes its session at once, together with those that came during the previous write. What
 * was seen is written about every minute. What a store does not take stays here and is retried: an
 * outage loses only what exceeds `MOST_WAITING`, and when tokens were last seen.
 */
export function createSessionRecorder(parts: RecorderParts) {
  const { store, markServices = async () => {}, now, log } = parts
  const added = new BoundedQueue<Session>(limits)
  const removed = new BoundedQueue<SessionName>(limits)
  const noted = createSeenSessions(now)
  let nextSeenAt = afterInterval()
  let failing: Where | undefined

  async function write<Part>(where: Where, to: (part: Part) => Promise<void>, part: Part) {
    await to(part).catch((error: unknown) => {
      failing = where
      throw error
    })
    if (failing === where) failing = undefined
  }

  /** What fails is not repeated: a token that is in use is noted again within a minute. */
  async function writeSeen(): Promise<void> {
    const seen = noted.take()
    nextSeenAt = afterInterval()
    for (const part of partsOf(seen.user)) await write('sessions', store.markSeen, part)
    for (const part of partsOf(seen.service)) await write('services', markServices, part)
  }

  const outbox = createOutbox({
    async deliver({ isLast, signal }) {
      await added.drain((part) => write('sessions', store.add, part), signal)
      await removed.drain((part) => write('sessions', store.remove, part), signal)
      if (isLast || performance.now() >= nextSeenAt) await writeSeen()
      // Only an answer of the store that failed says that it is back: often there is nothing to write.
      return failing === undefined ? undefined : 'idle'
    },
    everyMs: SEEN_MS,
    log,
    failed: 'sessions not recorded',
    recovered: 'sessions recorded again',
  })
  outbox.wake()
  return {
    /** A login issued this token. */
    opened(session: Omit<Session, 'seenAt'>) {
      const agent = session.agent.slice(0, longest.agent)
      added.add({ ...session, agent, seenAt: toMinute(session.issuedAt) })
      outbox.wake()
    },
    /** A request came with this token. */
    seen: noted.note,
    /** A logout ended it. */
    ended({ id, userId }: SessionName) {
      added.waiting.delete(id)
      removed.add({ id, userId })
      outbox.wake()
    },
    /** Writes that failed, and records that an outage lost, because too many were waiting. */
    state: () => ({ failures: outbox.failures(), dropped: added.dropped + removed.dropped }),
    /** Stores what is left, within two seconds. */
    close: () => outbox.close(),
  }
}

function afterInterval(): number {
  return performance.now() + SEEN_MS * (0.5 + Math.random() / 2)
}

function* partsOf<Each>(all: readonly Each[]): Generator<readonly Each[]> {
  for (let at = 0; at < all.length; at += SESSIONS_AT_ONCE) {
    yield all.slice(at, at + SESSIONS_AT_ONCE)
  }
}

/** The parts of a token that name its session. */
type SeenToken = Pick<VerifiedToken, 'kind' | 'id' | 'userId'>

/** More tokens than a gateway remembers to have verified are used once each: not worth the memory. */
const most = 20_000
const MINUTE_MS = 60_000

/**
 * Which tokens were used since the last time. `now` gives milliseconds since the epoch. Notes
 * tokens that we issued, and none of another issuer.
 */
function createSeenSessions(now: () => number) {
  let seen = new Map<SeenToken, number>()
  let last: SeenToken | undefined

  return {
    /**
     * Called for every request: one look-up by identity, because verified tokens are shared
     * objects.
     */
    note(token: SeenToken) {
      // A client that makes calls one after the other costs one comparison.
      if (token === last) return
      last = token
      if (!seen.has(token) && seen.size < most) seen.set(token, now())
    },
    /** Returns what was noted, by kind, and forgets it. */
    take(): Readonly<Record<'user' | 'service', readonly SeenSession[]>> {
      const taken = [...seen]
      seen = new Map()
      last = undefined
      const of = (kind: VerifiedToken['kind']) =>
        taken
          .filter(([token]) => token.kind === kind)
          .map(([{ id, userId }, at]) => ({ id, userId, seenAt: toMinute(at) }))
      return { user: of('user'), service: of('service') }
    },
  }
}

function toMinute(at: number): number {
  return at - (at % MINUTE_MS)
}
