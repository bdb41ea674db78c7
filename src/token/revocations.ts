/** A revocation before expiry. All times are milliseconds since the epoch. */
export type Revocation = TokenRevocation | UserRevocation

/** Revokes one token, until the token would have expired. */
export interface TokenRevocation {
  readonly kind: 'token'
  readonly id: string
  readonly userId: string
  readonly issuedAt: number
  readonly until: number
}

/** Revokes every token of a user that was issued at or before a moment. */
export interface UserRevocation {
  readonly kind: 'user'
  readonly userId: string
  readonly before: number
  readonly until: number
}

/** The parts of a token that a check needs. */
interface Revocable {
  readonly id: string
  readonly issuedAt: number
  readonly caller: { readonly userId: string }
}

/**
 * The revocation list in memory: a check is a look-up without a store. An entry stays until the tokens
 * that it revokes would have expired. The list is bounded: above `mostTokens`, the tokens of one user
 * become one mark on that user, which revokes at least the same tokens.
 */
export interface Revocations {
  /** `unknown`: the list has not been synchronized for too long. */
  check(token: Revocable): 'live' | 'revoked' | 'unknown'
  add(revocation: Revocation): void
  has(revocation: Revocation): boolean
  /** The entries that have not expired. */
  entries(): readonly Revocation[]
  /** Makes `check` return `unknown` for tokens issued up to this moment; 0 resets it. */
  closeUpTo(moment: number): void
  /**
   * The issue time of a token whose account was read at `readAt`. It is after a mark that was known by
   * then, whatever the clock of the replica that made it, so that a new login is valid. It is not after
   * a later mark, because the account may have been read before it was changed.
   */
  issueTime(userId: string, readAt: number): number
  size(): { readonly tokens: number; readonly users: number }
}

interface Mark {
  readonly before: number
  readonly until: number
  readonly learnedAt: number
}

const SWEEP_EVERY_MS = 60_000

/** `now` gives milliseconds since the epoch. */
export function createRevocations(
  now: () => number,
  { mostTokens = 100_000 }: { readonly mostTokens?: number } = {},
): Revocations {
  const tokens = new Map<string, TokenRevocation>()
  const marks = new Map<string, Mark>()
  let nextSweep = 0
  let closedUpTo = 0

  function isMarked(userId: string, issuedAt: number): boolean {
    const mark = marks.get(userId)
    return mark !== undefined && issuedAt <= mark.before
  }

  function sweep(at: number): void {
    if (at < nextSweep) return
    nextSweep = at + SWEEP_EVERY_MS
    for (const [id, { until }] of tokens) if (until <= at) tokens.delete(id)
    for (const [userId, { until }] of marks) if (until <= at) marks.delete(userId)
  }

  function mark(userId: string, before: number, until: number): void {
    const known = marks.get(userId)
    if (known !== undefined && known.before >= before) return
    marks.set(userId, {
      before,
      until: Math.max(until, known?.until ?? 0),
      learnedAt: Math.floor(now()),
    })
  }

  /** Replaces the tokens of the users with most of them, until a quarter of the capacity is free. */
  function fold(): void {
    const byUser = Map.groupBy(tokens.values(), ({ userId }) => userId)
    for (const [userId, own] of [...byUser].sort(([, a], [, b]) => b.length - a.length)) {
      if (tokens.size <= mostTokens * 0.75) return
      const latest = own.reduce((most, { issuedAt }) => Math.max(most, issuedAt), 0)
      mark(
        userId,
        latest,
        own.reduce((most, { until }) => Math.max(most, until), 0),
      )
      for (const { id } of own) tokens.delete(id)
    }
  }

  return {
    check({ id, issuedAt, caller }) {
      if (isMarked(caller.userId, issuedAt) || tokens.has(id)) return 'revoked'
      // Tokens without an issue time have 0, so 0 must not close the list for them.
      return closedUpTo > 0 && issuedAt <= closedUpTo ? 'unknown' : 'live'
    },
    add(revocation) {
      const at = now()
      sweep(at)
      if (revocation.until <= at) return
      if (revocation.kind === 'user') {
        mark(revocation.userId, revocation.before, revocation.until)
      } else if (!isMarked(revocation.userId, revocation.issuedAt)) {
        tokens.set(revocation.id, revocation)
        if (tokens.size > mostTokens) fold()
      }
    },
    has(revocation) {
      return revocation.kind === 'user'
        ? isMarked(revocation.userId, revocation.before)
        : tokens.has(revocation.id) || isMarked(revocation.userId, revocation.issuedAt)
    },
    entries() {
      sweep(now())
      const users = [...marks].map(([userId, { before, until }]) => {
        return { kind: 'user', userId, before, until } as const
      })
      return [...users, ...tokens.values()]
    },
    closeUpTo(moment) {
      closedUpTo = moment
    },
    issueTime(userId, readAt) {
      const known = marks.get(userId)
      if (known === undefined || known.before < readAt || known.learnedAt > readAt) return readAt
      return known.before + 1
    },
    size: () => ({ tokens: tokens.size, users: marks.size }),
  }
}
