import type { Attempt } from './breaker.ts'

export interface ErrorShareSettings {
  /** The share of failed requests that ejects; 0: it does not count. */
  readonly percent: number
  /** The fewest requests in an interval that mean something. */
  readonly requests: number
  readonly intervalMs: number
}

/** How many requests a target got in one interval, and how many of them failed. */
export interface Tally {
  readonly requests: number
  readonly failures: number
}

/**
 * Counts failed requests in intervals of a common clock, so that targets can be compared. It has no
 * timer: an interval is complete with the first result after it.
 */
export interface ErrorShare {
  /** A response has begun, or a request failed without one. */
  readonly note: (attempt: Attempt, hasFailed: boolean) => void
  /** A response that was noted broke off. Counts only in the interval in which it was noted. */
  readonly broke: (attempt: Attempt) => void
  readonly tally: (interval: number) => Tally
  /** The last complete interval. */
  readonly recent: () => Tally
}

export const noRequests: Tally = { requests: 0, failures: 0 }

/** `onComplete` gets the number of an interval, right after it. `now` gives milliseconds. */
export function createErrorShare(
  intervalMs: number,
  onComplete: (interval: number) => void,
  now: () => number,
): ErrorShare {
  let interval = currentInterval()
  let current = { requests: 0, failures: 0 }
  let before = noRequests
  /** The first request of the current interval. */
  let first: Attempt | undefined

  function currentInterval(): number {
    return Math.floor(now() / intervalMs)
  }
  function advance(): void {
    const next = currentInterval()
    if (next === interval) return
    before = next === interval + 1 ? current : noRequests
    current = { requests: 0, failures: 0 }
    first = undefined
    interval = next
    onComplete(next - 1)
  }
  function tally(wanted: number): Tally {
    if (wanted === interval) return current
    return wanted === interval - 1 ? before : noRequests
  }

  return {
    note(attempt, hasFailed) {
      advance()
      first ??= attempt
      current.requests++
      if (hasFailed) current.failures++
    },
    broke(attempt) {
      advance()
      if (first === undefined || attempt < first) return
      current.failures = Math.min(current.failures + 1, current.requests)
    },
    tally,
    recent: () => tally(currentInterval() - 1),
  }
}

/** Whether a target fails a larger part than allowed, and at least twice as often as the others. */
export function failsTooOften(own: Tally, others: Tally, settings: ErrorShareSettings): boolean {
  if (own.requests < settings.requests) return false
  if (own.failures * 100 < settings.percent * own.requests) return false
  return own.failures * others.requests >= 2 * others.failures * own.requests
}
