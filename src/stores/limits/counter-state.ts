import type { Limit } from '../../login/throttle.ts'

/** What is kept under one key. Times are milliseconds of one clock. */
export interface CounterState {
  readonly hits: number
  readonly windowEnds: number
  readonly waits: number
  readonly waitEnds: number
}

interface CountedHit {
  /** 0 when the hit is within the limit; `state` then includes it. */
  readonly waitMs: number
  readonly state: CounterState
}

const nothing: CounterState = { hits: 0, windowEnds: 0, waits: 0, waitEnds: 0 }

/**
 * One hit under one key; what the limit promises is told at its type. `counter-scripts.ts` has the
 * same in the language of Redis, and a test holds the two together.
 */
export function countHit(state: CounterState | undefined, limit: Limit, now: number): CountedHit {
  const before = state ?? nothing
  const longestMs = limit.longestWaitSeconds * 1000
  const windowMs = limit.windowSeconds * 1000

  if (isAhead(before.waitEnds, now, longestMs)) {
    return { waitMs: before.waitEnds - now, state: before }
  }
  const waits = now < before.waitEnds + longestMs ? before.waits : 0
  const isOpen = isAhead(before.windowEnds, now, windowMs)
  const hits = isOpen ? before.hits : 0

  if (hits >= limit.hits) {
    // Beyond thirty doublings a number would lose its meaning; the longest wait is far below that.
    const waitMs = Math.min(limit.waitSeconds * 1000 * 2 ** Math.min(waits, 30), longestMs)
    const after = { hits: 0, windowEnds: 0, waits: waits + 1, waitEnds: now + waitMs }
    return { waitMs, state: after }
  }

  const windowEnds = isOpen ? before.windowEnds : now + windowMs
  return { waitMs: 0, state: { hits: hits + 1, windowEnds, waits, waitEnds: before.waitEnds } }
}

/** A moment further ahead than any can be comes from a clock that was set back: it is over. */
function isAhead(moment: number, now: number, longestMs: number): boolean {
  return now < moment && moment - now <= longestMs
}
