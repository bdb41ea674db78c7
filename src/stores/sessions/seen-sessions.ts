import type { VerifiedToken } from '../../token/tokens.ts'
import type { SeenSession } from './session-store.ts'

/** The parts of a token that name its session. */
type SeenToken = Pick<VerifiedToken, 'kind' | 'id' | 'userId'>

/** More tokens than a gateway remembers to have verified are used once each: not worth the memory. */
const most = 20_000
const MINUTE_MS = 60_000

/**
 * Which tokens were used since the last time. `now` gives milliseconds since the epoch. Notes
 * tokens that we issued, and none of another issuer.
 */
export function createSeenSessions(now: () => number) {
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

export function toMinute(at: number): number {
  return at - (at % MINUTE_MS)
}
