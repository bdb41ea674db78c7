import { createUserMarks, type KeptToken, type UserRevocation } from './user-marks.ts'

/** An entry of the revocation list. All times are milliseconds since the epoch. */
export type Revocation = TokenRevocation | UserRevocation | KeptToken

/** Revokes one token, until the token would have expired. */
export interface TokenRevocation {
  readonly kind: 'token'
  readonly id: string
  readonly userId: string
  readonly issuedAt: number
  readonly until: number
}

/** The parts of a token that a check needs. */
interface Revocable {
  readonly id: string
  /** The user in the revocation list; not that of the caller if another issuer's users are meant. */
  readonly userId: string
  readonly issuedAt: number
  /** Only logins, `user`, end together with those of every user. */
  readonly kind: string
}

/**
 * The revocation list in memory: a check is a look-up without a store. An entry stays until the tokens
 * that it revokes would have expired. The list is bounded: above `mostTokens`, the tokens of one user
 * become one mark on that user, which revokes at least the same tokens.
 */
export type Revocations = ReturnType<typeof createRevocations>

const SWEEP_EVERY_MS = 60_000

/** `now` gives milliseconds since the epoch. */
export function createRevocations(
  now: () => number,
  { mostTokens = 100_000 }: { readonly mostTokens?: number } = {},
) {
  const tokens = new Map<string, TokenRevocation>()
  const marks = createUserMarks(now)
  let nextSweep = 0
  let closedUpTo = 0

  function sweep(at: number): void {
    if (at < nextSweep) return
    nextSweep = at + SWEEP_EVERY_MS
    for (const [id, { until }] of tokens) if (until <= at) tokens.delete(id)
    marks.forgetUntil(at)
  }

  /** Replaces the tokens of the users with most of them, until a quarter of the capacity is free. */
  function fold(): void {
    const byUser = Map.groupBy(tokens.values(), ({ userId }) => userId)
    for (const [userId, own] of [...byUser].sort(([, a], [, b]) => b.length - a.length)) {
      if (tokens.size <= mostTokens * 0.75) return
      const latest = own.reduce((most, { issuedAt }) => Math.max(most, issuedAt), 0)
      const until = own.reduce((most, one) => Math.max(most, one.until), 0)
      marks.keepNone(userId)
      marks.mark({ kind: 'user', userId, before: latest, until })
      for (const { id } of own) tokens.delete(id)
    }
  }

  return {
    /** `unknown`: the list has not been synchronized for too long. */
    check(token: Revocable) {
      const { id, issuedAt, kind } = token
      if (marks.isRevoked(token) || tokens.has(id)) return 'revoked'
      if (kind === 'user' && marks.isEveryoneRevoked(issuedAt)) return 'revoked'
      // Tokens without an issue time have 0, so 0 must not close the list for them.
      return closedUpTo > 0 && issuedAt <= closedUpTo ? 'unknown' : 'live'
    },
    add(revocation: Revocation) {
      const at = now()
      sweep(at)
      if (revocation.until <= at) return
      if (revocation.kind === 'user') marks.mark(revocation)
      else if (revocation.kind === 'kept') marks.keep(revocation)
      else if (!marks.isRevoked(revocation)) {
        tokens.set(revocation.id, revocation)
        if (tokens.size > mostTokens) fold()
      }
    },
    has(revocation: Revocation) {
      if (revocation.kind !== 'token') return marks.has(revocation)
      return tokens.has(revocation.id) || marks.isRevoked(revocation)
    },
    /** The entries that have not expired. */
    entries(): readonly Revocation[] {
      sweep(now())
      return [...marks.entries(), ...tokens.values()]
    },
    /** Makes `check` return `unknown` for tokens issued up to this moment; 0 resets it. */
    closeUpTo(moment: number) {
      closedUpTo = moment
    },
    /**
     * The issue time of a token whose account was read at `readAt`. It is after a mark that was known by
     * then, whatever the clock of the replica that made it, so that a new login is valid. It is not after
     * a later mark, because the account may have been read before it was changed.
     */
    issueTime: marks.issueTime,
    size: () => ({ tokens: tokens.size, users: marks.count() }),
  }
}
