import type { Revocation } from '../../token/revocations.ts'

/** How far somebody has read a list, and which list that was. */
export interface Position {
  readonly list: string
  readonly sequence: string
}

interface Page {
  readonly revocations: readonly Revocation[]
  readonly place: Position
  /** Whether there is more behind this place already. */
  readonly more: boolean
}

/** Where revocations outlive a process and reach the others. Failures are Faults. */
export interface RevocationStore {
  readonly name: 'redis' | 'database'
  /**
   * What was added after this place, or from the beginning. `undefined` when the place belongs to
   * a list that is gone: then only the beginning is left to read from.
   */
  read(after: Position | undefined): Promise<Page | undefined>
  /**
   * Adds what is not there yet. Of two marks on one user the later one stays. `made` is `now` when
   * marks are made by this call: then they also cover what was issued by the clock of the store, and
   * lie at most `MAX_AHEAD_MS` ahead of it.
   */
  append(revocations: readonly Revocation[], made: 'now' | 'before'): Promise<void>
  /** The end of the list there is now. */
  end(): Promise<Position>
  /** From now on, calls back when something may be new, and at every new connection. */
  watch(listeners: { readonly onHint: () => void; readonly onReconnect: () => void }): void
  /** To be called about every second, so that hints keep coming. Never throws. */
  check(): Promise<void>
  close(): Promise<void>
}

/** How many revocations one reading or one writing carries. */
export const PAGE = 1000

/**
 * A new login is dated after the mark it has to survive. A mark of tomorrow, from a machine whose
 * clock is wrong, would make it a token of the future, which is refused: until tomorrow.
 */
export const MAX_AHEAD_MS = 30_000

/** A revocation as both stores hold it: of two under one name, the one with the later moment. */
export interface RevocationRow {
  readonly name: string
  readonly userId: string
  /** When the token was issued, or up to when the user's tokens are over. */
  readonly moment: number
  readonly until: number
}

export function toRow(revocation: Revocation): RevocationRow {
  const { userId, until } = revocation
  return revocation.kind === 'user'
    ? { name: `u:${userId}`, userId, moment: revocation.before, until }
    : { name: `t:${revocation.id}`, userId, moment: revocation.issuedAt, until }
}

/** `undefined` for a row that nobody of ours wrote. */
export function fromRow({ name, userId, moment, until }: RevocationRow): Revocation | undefined {
  if (!Number.isSafeInteger(moment) || !Number.isSafeInteger(until)) return undefined
  if (name === `u:${userId}`) return { kind: 'user', userId, before: moment, until }
  if (!name.startsWith('t:')) return undefined
  return { kind: 'token', id: name.slice(2), userId, issuedAt: moment, until }
}
