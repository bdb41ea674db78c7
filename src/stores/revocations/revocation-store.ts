import type { Revocation } from '../../token/revocations.ts'

/** Which list was read, and how far. */
export interface Position {
  readonly list: string
  readonly sequence: string
}

interface Page {
  readonly revocations: readonly Revocation[]
  readonly position: Position
  /** Whether the list already continues after this position. */
  readonly more: boolean
}

/** Where revocations outlive a process and reach the others. Failures are Faults. */
export interface RevocationStore {
  readonly name: 'redis' | 'database'
  /**
   * What was added after a position, or from the beginning. `undefined` when the position belongs to
   * a list that no longer exists: then read from the beginning.
   */
  read(after: Position | undefined): Promise<Page | undefined>
  /**
   * Adds what is missing. Of two revocations of one user the later one wins. With `now`, revocations
   * of users also cover tokens issued up to now by the clock of the store, lie at most `MAX_AHEAD_MS`
   * ahead of that clock, and after every earlier one of the same user.
   *
   * An exception is added only together with its revocation, whose moment it takes, and before it in
   * the list. If an earlier revocation covers its token, the store refuses the exception and dates the
   * revocation 1 ms later, so that the exception counts on no gateway.
   */
  append(revocations: readonly Revocation[], made: 'now' | 'before'): Promise<void>
  /** The current end of the list. */
  end(): Promise<Position>
  /** From now on, calls back when something may be new, and at every new connection. */
  watch(listeners: { readonly onHint: () => void; readonly onReconnect: () => void }): void
  /** To be called about every second, so that hints keep coming. Never throws. */
  check(): Promise<void>
  close(): Promise<void>
}

/** How many revocations one read or one write carries. */
export const PAGE = 1000

/**
 * A token issued after its user was revoked is dated later than the revocation. A revocation dated
 * tomorrow, by a wrong clock, would date new tokens tomorrow too, and those are refused until then.
 */
export const MAX_AHEAD_MS = 30_000

/** A revocation as both stores hold it. Of two rows with one name, the later moment wins. */
export interface RevocationRow {
  readonly name: string
  readonly userId: string
  /** When a revoked token was issued, or up to when the user's tokens are revoked. */
  readonly moment: number
  readonly until: number
}

export function toRow(revocation: Revocation): RevocationRow {
  const { userId, until } = revocation
  switch (revocation.kind) {
    case 'user':
      return { name: `u:${userId}`, userId, moment: revocation.before, until }
    case 'token':
      return { name: `t:${revocation.id}`, userId, moment: revocation.issuedAt, until }
    case 'kept': {
      const { id, issuedAt, before } = revocation
      return { name: `k:${issuedAt}:${id}`, userId, moment: before, until }
    }
  }
}

/** `undefined` for a row that Postern did not write. */
export function fromRow({ name, userId, moment, until }: RevocationRow): Revocation | undefined {
  if (!Number.isSafeInteger(moment) || !Number.isSafeInteger(until)) return undefined
  if (name === `u:${userId}`) return { kind: 'user', userId, before: moment, until }
  if (name.startsWith('t:')) {
    return { kind: 'token', id: name.slice(2), userId, issuedAt: moment, until }
  }
  const [, issuedAt, id] = /^k:(\d{1,16}):(.+)$/s.exec(name) ?? []
  if (id === undefined) return undefined
  return { kind: 'kept', id, userId, issuedAt: Number(issuedAt), before: moment, until }
}
