import type { Revocations } from '../../token/revocations.ts'

/** A token that a login issued. Times are milliseconds since the epoch. */
export interface Session {
  /** The ID of the token, in the revocation list too. */
  readonly id: string
  readonly userId: string
  readonly username: string
  readonly roleKey: string
  readonly address: string
  /** The User-Agent of the login, cut to `longest.agent`. */
  readonly agent: string
  readonly issuedAt: number
  readonly expiresAt: number
  /** To the minute. */
  readonly seenAt: number
}

/** Names a session: stores keep sessions by user. */
export type SessionName = Pick<Session, 'id' | 'userId'>

/** When a gateway last verified the token of a session. */
export interface SeenSession extends SessionName {
  readonly seenAt: number
}

/** Where sessions are recorded. Every method throws a Fault when the store fails. */
export interface SessionStore {
  /** Adds what is missing. Of more than `MOST_SESSIONS` of one user the oldest are dropped. */
  add(sessions: readonly Session[]): Promise<void>
  /** Ignores sessions that are not recorded. */
  markSeen(seen: readonly SeenSession[]): Promise<void>
  remove(sessions: readonly SessionName[]): Promise<void>
  /** Sessions that have not expired, of one user or of all, also those that were revoked meanwhile. */
  list(userId?: string): Promise<readonly Session[]>
}

/** A client that logs in for every call must not fill the store, nor one whose tokens last 100 years. */
export const MOST_SESSIONS = 1000

/** How many sessions one statement carries: a millisecond or two of Redis, which others wait for. */
export const SESSIONS_AT_ONCE = 200

/** The widths of the table's columns. */
export const longest = { username: 64, roleKey: 128, address: 64, agent: 255 } as const

/**
 * The sessions whose tokens gateways accept, those seen last first. A revocation by any way hides its
 * session, whether or not the record was removed.
 */
export async function liveSessions(
  store: Pick<SessionStore, 'list'>,
  revocations: Pick<Revocations, 'check'>,
  userId?: string,
): Promise<readonly Session[]> {
  const found = await store.list(userId)
  return found
    .filter((session) => revocations.check({ ...session, kind: 'user' }) !== 'revoked')
    .sort((a, b) => b.seenAt - a.seenAt || b.issuedAt - a.issuedAt)
}
