import { failureText } from '../feed/failure-text.ts'
import type { FeedLog } from '../feed/feed-log.ts'
import { createPolling } from '../feed/polling.ts'
import { withTimeout } from '../with-timeout.ts'
import { createSeenSessions, type SeenToken, toMinute } from './seen-sessions.ts'
import {
  longest,
  SESSIONS_AT_ONCE,
  type SeenSession,
  type Session,
  type SessionName,
  type SessionStore,
} from './session-store.ts'

/** Records sessions beside requests: nothing here throws or makes a caller wait. */
export interface SessionRecorder {
  /** A login issued this token. */
  readonly opened: (session: Omit<Session, 'seenAt'>) => void
  /** A request came with this token. */
  readonly seen: (token: SeenToken) => void
  /** A logout ended it. */
  readonly ended: (session: SessionName) => void
  readonly state: () => {
    /** Writes that failed. */
    readonly failures: number
    /** Records that an outage lost, because too many were waiting. */
    readonly dropped: number
  }
  /** Stores what is left, within two seconds. */
  readonly close: () => Promise<void>
}

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
const CLOSE_MS = 2000
/** Sessions that wait for a store; a few megabytes. */
const MOST_WAITING = 10_000

/**
 * A login writes its session at once, together with those that came during the previous write. What
 * was seen is written about every minute. What a store does not take stays here and is retried: an
 * outage loses only what exceeds `MOST_WAITING`, and when tokens were last seen.
 */
export function createSessionRecorder(parts: RecorderParts): SessionRecorder {
  const { store, markServices = async () => {}, now, log } = parts
  const added = new Map<string, Session>()
  const removed = new Map<string, SessionName>()
  const noted = createSeenSessions(now)
  let nextSeenAt = afterInterval()
  let failures = 0
  let dropped = 0
  let asked: Where = 'sessions'
  let complaint: { readonly where: Where; readonly reason: string } | undefined

  /** Only an answer of the store that failed says that it is back: often there is nothing to write. */
  async function write<Part>(where: Where, to: (part: Part) => Promise<void>, part: Part) {
    asked = where
    await to(part)
    if (complaint?.where !== where) return
    log.info({}, 'sessions recorded again')
    complaint = undefined
  }

  /** What fails is not repeated: a token that is in use is noted again within a minute. */
  async function writeSeen(): Promise<void> {
    const seen = noted.take()
    nextSeenAt = afterInterval()
    for (const part of partsOf(seen.user)) await write('sessions', store.markSeen, part)
    for (const part of partsOf(seen.service)) await write('services', markServices, part)
  }

  async function attempt(isLast = false): Promise<'unanswered' | undefined> {
    try {
      await drain(added, (part) => write('sessions', store.add, part))
      await drain(removed, (part) => write('sessions', store.remove, part))
      if (isLast || performance.now() >= nextSeenAt) await writeSeen()
      return undefined
    } catch (error) {
      failures++
      const reason = failureText(error)
      if (complaint?.reason !== reason) log.warn({ reason }, 'sessions not recorded')
      complaint = { where: asked, reason }
      return 'unanswered'
    }
  }

  function queue<Named extends SessionName>(waiting: Map<string, Named>, session: Named): void {
    if (waiting.size < MOST_WAITING) waiting.set(session.id, session)
    else dropped++
    void polling.now()
  }

  const polling = createPolling(attempt, SEEN_MS)
  void polling.now()
  return {
    opened(session) {
      const agent = session.agent.slice(0, longest.agent)
      queue(added, { ...session, agent, seenAt: toMinute(session.issuedAt) })
    },
    seen: noted.note,
    ended({ id, userId }) {
      added.delete(id)
      queue(removed, { id, userId })
    },
    state: () => ({ failures, dropped }),
    async close() {
      await withTimeout(
        CLOSE_MS,
        polling.close().then(() => attempt(true)),
      ).catch(() => {})
    },
  }
}

function afterInterval(): number {
  return performance.now() + SEEN_MS * (0.5 + Math.random() / 2)
}

/** Writes what waits, part by part. What was queued again meanwhile stays. */
async function drain<Named>(
  waiting: Map<string, Named>,
  write: (part: readonly Named[]) => Promise<void>,
): Promise<void> {
  for (const part of partsOf([...waiting])) {
    await write(part.map(([, one]) => one))
    for (const [id, one] of part) if (waiting.get(id) === one) waiting.delete(id)
  }
}

function* partsOf<Each>(all: readonly Each[]): Generator<readonly Each[]> {
  for (let at = 0; at < all.length; at += SESSIONS_AT_ONCE) {
    yield all.slice(at, at + SESSIONS_AT_ONCE)
  }
}
