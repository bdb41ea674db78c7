import type { Limit } from '../../login/throttle.ts'

/** What is kept under one key. Times are milliseconds of one clock. */
export interface CounterState {
  readonly hits: number
  readonly windowEnds: number
  readonly lockouts: number
  readonly lockoutEnds: number
}

interface CountedHit {
  /** 0 when the hit is within the limit; `state` then includes it. */
  readonly lockoutMs: number
  /** Whether this hit started the lock-out. */
  readonly began: boolean
  readonly state: CounterState
}

const nothing: CounterState = { hits: 0, windowEnds: 0, lockouts: 0, lockoutEnds: 0 }

/**
 * One hit under one key; the type `Limit` documents the rule. `counter-scripts.ts` has the same rule
 * in Lua, and a test compares the two.
 */
export function countHit(state: CounterState | undefined, limit: Limit, now: number): CountedHit {
  const before = state ?? nothing
  const longestMs = limit.maxLockoutSeconds * 1000
  const windowMs = limit.windowSeconds * 1000

  if (isAhead(before.lockoutEnds, now, longestMs)) {
    return { lockoutMs: before.lockoutEnds - now, began: false, state: before }
  }
  const lockouts = now < before.lockoutEnds + longestMs ? before.lockouts : 0
  const isOpen = isAhead(before.windowEnds, now, windowMs)
  const hits = isOpen ? before.hits : 0

  if (hits >= limit.hits) {
    // Beyond thirty doublings a number would lose its meaning; the longest lock-out is far below that.
    const lockoutMs = Math.min(limit.lockoutSeconds * 1000 * 2 ** Math.min(lockouts, 30), longestMs)
    const after = { hits: 0, windowEnds: 0, lockouts: lockouts + 1, lockoutEnds: now + lockoutMs }
    return { lockoutMs, began: true, state: after }
  }

  const windowEnds = isOpen ? before.windowEnds : now + windowMs
  return {
    lockoutMs: 0,
    began: false,
    state: { hits: hits + 1, windowEnds, lockouts, lockoutEnds: before.lockoutEnds },
  }
}

/** A moment too far ahead comes from a clock that was set back, and counts as past. */
function isAhead(moment: number, now: number, longestMs: number): boolean {
  return now < moment && moment - now <= longestMs
}
