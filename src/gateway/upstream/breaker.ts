export interface BreakerSettings {
  /** After how many failures in a row it opens. */
  readonly failures: number
  /** How long it stays open the first time. */
  readonly openMs: number
  /** How long at most, having doubled with every trial that failed. */
  readonly maxOpenMs: number
}

/**
 * Keeps requests away from a target that fails. Its states:
 *
 * - closed: everything passes. `failures` failures in a row, with no success between, open it.
 * - open: nothing passes for a time. Left by the clock, or when the target turns out to be reachable.
 * - half-open: requests pass as trials, one at first, and four times as many at a time with each that
 *   succeeds; the fourth success closes it. A failure opens it again: for twice as long, up to
 *   `maxOpenMs`, while other targets serve, and for no longer than before if this one is alone.
 *
 * What began before it opened counts no more: a target that shuts down still answers it.
 */
export interface Breaker {
  /** Whether a request may go on now. Changes nothing. */
  readonly allows: () => boolean
  /** A request goes on. Exactly one of the next three follows, with what this returned. */
  readonly began: () => Attempt
  readonly succeeded: (attempt: Attempt) => void
  readonly failed: (attempt: Attempt) => void
  /** It ended, and said nothing about the target: the client left, for one. */
  readonly abandoned: (attempt: Attempt) => void
  /** The target accepts connections again: while open, trials may begin. */
  readonly reachable: () => void
  readonly state: () => 'closed' | 'open' | 'half-open'
}

/** Tells one request from another: the later it began, the larger. */
export type Attempt = number

interface BreakerOptions {
  /** Whether no other target could serve what this one does not. */
  readonly isAlone?: () => boolean
  /** Milliseconds. */
  readonly now?: () => number
}

/** How many trials must succeed, and how many times more pass with each that does. */
const trials = 4
const growth = 4

/** Starts closed. */
export function createBreaker(
  settings: BreakerSettings,
  { isAlone = () => false, now = () => performance.now() }: BreakerOptions = {},
): Breaker {
  let inARow = 0
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
      inARow = 0
      if (openUntil === undefined || attempt <= beforeOpening) return
      if (isTrial(attempt)) trying--
      openUntil = Math.min(openUntil, now())
      if (++successes >= trials) close()
    },
    failed(attempt) {
      if (attempt <= beforeOpening) return
      if (isTrial(attempt)) open(isAlone() ? settings.openMs : openedFor * 2)
      else if (openUntil === undefined && ++inARow >= settings.failures) open(settings.openMs)
    },
    abandoned(attempt) {
      if (isTrial(attempt)) trying--
    },
    reachable() {
      if (state() === 'open') openUntil = now()
    },
  }
}
