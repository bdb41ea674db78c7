/** Something that ended before its time. All times are milliseconds since the epoch. */
export type Revocation = TokenRevocation | UserRevocation

/** One token, until it would have expired anyway. */
export interface TokenRevocation {
  readonly kind: 'token'
  readonly id: string
  readonly userId: string
  readonly issuedAt: number
  readonly until: number
}

/** Every token of a user that was issued at or before a moment. */
export interface UserRevocation {
  readonly kind: 'user'
  readonly userId: string
  readonly before: number
  readonly until: number
}

/** What is asked about a token at every use. */
interface Revocable {
  readonly id: string
  readonly issuedAt: number
  readonly caller: { readonly userId: string }
}

/**
 * What ended early, held in memory: asking costs a look-up and no store. An entry lives as long as
 * what it ends could have. Where that is for ever, the list is still bounded: above `mostTokens`,
 * the tokens of one user become one mark on that user, which ends at least what they ended.
 */
export interface Revocations {
  /** `unknown`: the list has been out of touch for so long that it is not to be relied on. */
  check(token: Revocable): 'live' | 'revoked' | 'unknown'
  add(revocation: Revocation): void
  has(revocation: Revocation): boolean
  /** Everything that is still in force. */
  entries(): readonly Revocation[]
  /** Makes `check` say `unknown` of what was issued up to this moment; 0 ends that. */
  closeUpTo(moment: number): void
  /**
   * The issue time of a token whose owner's account was read at `readAt`: after a mark that was
   * known by then, whatever the clock of whoever made it, so that a new login is good; and never
   * after one that was not, because the account may have been read before it was changed.
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

  /** Replaces the tokens of whoever has most of them, until a quarter of the room is free. */
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
      // A token that does not say when it was issued is of the moment 0, and so is an open list.
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
