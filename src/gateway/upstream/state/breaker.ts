export interface BreakerSettings {
  /** The consecutive failures that open it. */
  readonly failures: number
  /** How long it stays open the first time. */
  readonly openMs: number
  /** The most that doubling after each failed trial leads to. */
  readonly maxOpenMs: number
}

/**
 * A circuit breaker: sends no requests to a failing target. Its states:
 *
 * - closed: everything passes. `failures` consecutive failures open it.
 * - open: nothing passes until its time is up, or a probe finds the target reachable.
 * - half-open: requests pass as trials, one at first, and each success allows four times as many at a
 *   time; the fourth success closes it. A failure opens it again: for twice as long, up to `maxOpenMs`,
 *   if other targets serve, else for `openMs`.
 *
 * Requests that began before it opened no longer count: a target that shuts down still answers them.
 */
export interface Breaker {
  /** Whether a request may be sent now. Changes nothing. */
  readonly allows: () => boolean
  /** A request is sent. Exactly one of the next three must follow, with the returned attempt. */
  readonly began: () => Attempt
  readonly succeeded: (attempt: Attempt) => void
  readonly failed: (attempt: Attempt) => void
  /** The result says nothing about the target: the client disconnected, for example. */
  readonly abandoned: (attempt: Attempt) => void
  /** The target accepts connections again: an open breaker becomes half-open. */
  readonly reachable: () => void
  readonly state: () => 'closed' | 'open' | 'half-open'
  /** The request that was sent last. */
  readonly latest: () => Attempt
  /** Other settings apply from now on. An open breaker stays open, for no longer than they allow. */
  readonly change: (settings: BreakerSettings) => void
}

/** Identifies a request. Later ones have larger numbers. */
export type Attempt = number

interface BreakerOptions {
  /** Whether no other target can serve the requests. */
  readonly isAlone?: () => boolean
  /** It was open, and enough trials have succeeded. */
  readonly onClosed?: () => void
  /** Milliseconds. */
  readonly now?: () => number
}

/** The successes that close it, and the factor by which each raises the number of trials. */
const trials = 4
const growth = 4

export function createBreaker(
  first: BreakerSettings,
  { isAlone = () => false, onClosed, now = () => performance.now() }: BreakerOptions = {},
): Breaker {
  let settings = first
  let consecutiveFailures = 0
  let openedFor = 0
  let openUntil: number | undefined
  let latest: Attempt = 0
  let beforeOpening: Attempt = 0
  /** Requests that began after this one are trials. */
  let beforeTrials: Attempt | undefined
  let trying = 0
  let successes = 0

  function state() {
    if (openUntil === undefined) return 'closed'
    return now() < openUntil ? 'open' : 'half-open'
  }
  function endTrials(): void {
    beforeTrials = undefined
    trying = 0
    successes = 0
  }
  function open(forMs: number): void {
    openedFor = Math.min(forMs, settings.maxOpenMs)
    openUntil = now() + openedFor
    beforeOpening = latest
    endTrials()
  }
  function close(): void {
    openedFor = 0
    openUntil = undefined
    endTrials()
    onClosed?.()
  }
  function isTrial(attempt: Attempt): boolean {
    return beforeTrials !== undefined && attempt > beforeTrials
  }

  return {
    state,
    allows() {
      const current = state()
      return current === 'closed' || (current === 'half-open' && trying < growth ** successes)
    },
    began() {
      if (openUntil !== undefined && state() === 'half-open') {
        beforeTrials ??= latest
        trying++
      }
      return ++latest
    },
    succeeded(attempt) {
      consecutiveFailures = 0
      if (openUntil === undefined || attempt <= beforeOpening) return
      if (isTrial(attempt)) trying--
      openUntil = Math.min(openUntil, now())
      if (++successes >= trials) close()
    },
    failed(attempt) {
      if (attempt <= beforeOpening) return
      if (isTrial(attempt)) open(isAlone() ? settings.openMs : openedFor * 2)
      else if (openUntil === undefined && ++consecutiveFailures >= settings.failures)
        open(settings.openMs)
    },
    abandoned(attempt) {
      if (isTrial(attempt)) trying--
    },
    reachable() {
      if (state() === 'open') openUntil = now()
    },
    latest: () => latest,
    change(next) {
      settings = next
      openedFor = Math.min(openedFor, next.maxOpenMs)
      if (openUntil !== undefined) openUntil = Math.min(openUntil, now() + next.maxOpenMs)
    },
  }
}
