/**
 * As `userId` of a `UserRevocation`: every user, as far as tokens of logins are concerned, and not
 * those of programs or of other issuers. IDs of accounts are numbers, so gateways that do not know
 * this one store it, pass it on, and revoke nothing by it.
 */
export const everyUser = '*'

/** Revokes every token of a user that was issued at or before a moment. */
export interface UserRevocation {
  readonly kind: 'user'
  readonly userId: string
  readonly before: number
  readonly until: number
}

/**
 * Excepts one token from the revocation of its user's tokens at exactly the moment `before`. A
 * gateway that does not know this kind revokes the token too.
 */
export interface KeptToken {
  readonly kind: 'kept'
  readonly id: string
  readonly userId: string
  readonly issuedAt: number
  readonly before: number
  readonly until: number
}

/** Revokes every token of a user issued up to now. Each user has at most one such entry. */
export function userRevocation(
  userId: string,
  { longestLifetimeSeconds }: { readonly longestLifetimeSeconds: number },
  now = Date.now(),
): UserRevocation {
  return { kind: 'user', userId, before: now, until: now + longestLifetimeSeconds * 1000 }
}

interface MarkedToken {
  readonly id: string
  readonly userId: string
  readonly issuedAt: number
}

interface Mark {
  readonly before: number
  readonly until: number
  readonly learnedAt: number
}

/**
 * The users whose tokens were revoked, each up to a moment, and the tokens that were excepted.
 * `now` gives milliseconds since the epoch.
 */
export function createUserMarks(now: () => number) {
  const marks = new Map<string, Mark>()
  /** By user: the token that the mark excepts. */
  const kept = new Map<string, KeptToken>()
  /** By user: an exception whose mark has not arrived yet. Until then, the mark before it counts. */
  const announced = new Map<string, KeptToken>()
  /** The moment of `everyUser`, or -1: every request compares it. */
  let everyoneBefore = -1

  /** Once true, it stays true until the mark expires. */
  function isRevoked({ id, userId, issuedAt }: MarkedToken): boolean {
    const mark = marks.get(userId)
    if (mark === undefined || issuedAt > mark.before) return false
    return kept.get(userId)?.id !== id
  }

  /** A revocation without this exception revokes its token, in whichever order the two arrive. */
  function withdraw(exceptions: Map<string, KeptToken>, userId: string, before: number): void {
    const exception = exceptions.get(userId)
    if (exception === undefined || exception.before === before) return
    if (exception.issuedAt <= before) exceptions.delete(userId)
  }

  return {
    isRevoked,
    /** Whether a login at this moment is revoked together with those of every user. */
    isEveryoneRevoked: (issuedAt: number) => issuedAt <= everyoneBefore,
    /** Whether every token that `revocation` covers is covered already. */
    has({ kind, userId, before, ...rest }: UserRevocation | KeptToken) {
      if (before <= (marks.get(userId)?.before ?? -1)) return true
      if (kind === 'user') return false
      const known = announced.get(userId)
      return known?.before === before && 'id' in rest && known.id === rest.id
    },
    mark({ userId, before, until }: UserRevocation) {
      const known = marks.get(userId)
      const exception = announced.get(userId)
      const isKept = known?.before === before && kept.get(userId)?.id === exception?.id
      if (!isKept) withdraw(announced, userId, before)
      if (known !== undefined && known.before >= before) return withdraw(kept, userId, before)
      kept.delete(userId)
      if (exception?.before === before) {
        announced.delete(userId)
        kept.set(userId, exception)
      }
      marks.set(userId, {
        before,
        until: Math.max(until, known?.until ?? 0),
        learnedAt: Math.floor(now()),
      })
      if (userId === everyUser) everyoneBefore = before
    },
    keep(exception: KeptToken) {
      const { userId, before } = exception
      const latest = Math.max(marks.get(userId)?.before ?? -1, announced.get(userId)?.before ?? -1)
      if (before >= latest && !isRevoked(exception)) announced.set(userId, exception)
    },
    /** Ends the exception of a user: the token may be among those that a mark replaces. */
    keepNone(userId: string) {
      kept.delete(userId)
      announced.delete(userId)
    },
    /** Each exception right before its mark, because it must be known before it. */
    entries: (): (UserRevocation | KeptToken)[] =>
      [...marks].flatMap(([userId, { before, until }]) => {
        const mark = { kind: 'user', userId, before, until } as const
        const exception = kept.get(userId)
        return exception === undefined ? [mark] : [exception, mark]
      }),
    forgetUntil(moment: number) {
      for (const [userId, { until }] of marks) if (until <= moment) marks.delete(userId)
      for (const exceptions of [kept, announced]) {
        for (const [userId, { until }] of exceptions) {
          if (until <= moment) exceptions.delete(userId)
        }
      }
      if (!marks.has(everyUser)) everyoneBefore = -1
    },
    issueTime: (userId: string, readAt: number) =>
      [userId, everyUser].reduce((time, each) => {
        const known = marks.get(each)
        if (known === undefined || known.before < readAt || known.learnedAt > readAt) return time
        return Math.max(time, known.before + 1)
      }, readAt),
    count: () => marks.size,
  }
}
