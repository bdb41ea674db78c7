/** Identifies a request. Later ones have larger numbers. */
export type Attempt = number

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
  readonly callers: number
  /** The failed shares of the requests of each caller, added up: each caller counts as much as any other. */
  readonly failing: number
}

/**
 * Counts failed requests in intervals of a common clock, so that targets can be compared. It has no
 * timer: an interval is complete with the first result after it.
 */
export interface ErrorShare {
  /** A response has begun, or a request failed without one. */
  readonly note: (attempt: Attempt, who: string, hasFailed: boolean) => void
  /** A response that was noted broke off. Counts only in the interval in which it was noted. */
  readonly broke: (attempt: Attempt, who: string) => void
  readonly tally: (interval: number) => Tally
  /** The last complete interval. */
  readonly recent: () => Tally
}

export const noRequests: Tally = { requests: 0, failures: 0, callers: 0, failing: 0 }

/** Callers beyond these are counted as one. */
const maxCallers = 1000

/** `onComplete` gets the number of an interval, right after it. `now` gives milliseconds. */
export function createErrorShare(
  intervalMs: number,
  onComplete: (interval: number) => void,
  now: () => number,
): ErrorShare {
  let interval = currentInterval()
  let current = { ...noRequests }
  let callers = new Map<string, { requests: number; failures: number }>()
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
    current = { ...noRequests }
    callers = new Map()
    first = undefined
    interval = next
    onComplete(next - 1)
  }
  function tally(wanted: number): Tally {
    if (wanted === interval) return current
    return wanted === interval - 1 ? before : noRequests
  }
  function add(who: string, requests: number, failures: number): void {
    const key = callers.size < maxCallers || callers.has(who) ? who : ''
    const own = callers.get(key) ?? { requests: 0, failures: 0 }
    callers.set(key, own)
    const failing = own.requests === 0 ? 0 : own.failures / own.requests
    own.requests += requests
    own.failures = Math.min(own.failures + failures, own.requests)
    if (own.requests === 0) return
    current.requests += requests
    current.failures = Math.min(current.failures + failures, current.requests)
    current.callers = callers.size
    current.failing += own.failures / own.requests - failing
  }

  return {
    note(attempt, who, hasFailed) {
      advance()
      first ??= attempt
      add(who, 1, hasFailed ? 1 : 0)
    },
    broke(attempt, who) {
      advance()
      if (first !== undefined && attempt >= first) add(who, 0, 1)
    },
    tally,
    recent: () => tally(currentInterval() - 1),
  }
}

/**
 * Whether a target fails a larger part than allowed, and at least twice as often as the others. By callers,
 * so that one of them alone cannot have a target ejected.
 */
export function failsTooOften(own: Tally, others: Tally, settings: ErrorShareSettings): boolean {
  if (own.requests < settings.requests) return false
  if (own.failing * 100 < settings.percent * own.callers) return false
  return own.failing * others.callers >= 2 * others.failing * own.callers
}
