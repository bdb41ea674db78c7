export interface BreakerSettings {
  /** After how many failures in a row it opens. */
  readonly failures: number
  /** How long it stays open the first time. */
  readonly openMs: number
  /** How long at most, having doubled with every probe that failed. */
  readonly maxOpenMs: number
}

/**
 * Keeps requests away from a target that fails. Its states:
 *
 * - closed: everything passes. `failures` failures in a row, with no success between, open it.
 * - open: nothing passes for a time. Left by the clock.
 * - half-open: one request passes, as a probe. Its success closes it; its failure opens it again
 *   for twice as long, up to `maxOpenMs`; if it ends without telling, the next one is the probe.
 *
 * What began before it opened says nothing that the opening did not: its failure counts no more.
 */
export interface Breaker {
  /** Whether a request may go on now. Changes nothing. */
  readonly allows: () => boolean
  /** A request goes on. Exactly one of the other three follows, with what this returned. */
  readonly began: () => Attempt
  readonly succeeded: () => void
  readonly failed: (attempt: Attempt) => void
  /** It ended, and said nothing about the target: the client left, for one. */
  readonly abandoned: (attempt: Attempt) => void
  readonly state: () => 'closed' | 'open' | 'half-open'
}

/** Tells one request from another: the later it began, the larger. */
export type Attempt = number

/** Starts closed. `now` gives milliseconds. */
export function createBreaker(settings: BreakerSettings, now = () => performance.now()): Breaker {
  let inARow = 0
  let openedFor = 0
  let openUntil: number | undefined
  let latest: Attempt = 0
  let beforeOpening: Attempt = 0
  let probe: Attempt | undefined

  function state() {
    if (openUntil === undefined) return 'closed'
    return now() < openUntil ? 'open' : 'half-open'
  }
  function open(forMs: number): void {
    openedFor = Math.min(forMs, settings.maxOpenMs)
    openUntil = now() + openedFor
    beforeOpening = latest
    probe = undefined
  }

  return {
    state,
    allows() {
      const current = state()
      return current === 'closed' || (current === 'half-open' && probe === undefined)
    },
    began() {
      latest++
      if (openUntil !== undefined && probe === undefined && state() === 'half-open') probe = latest
      return latest
    },
    succeeded() {
      inARow = 0
      openedFor = 0
      openUntil = undefined
      probe = undefined
    },
    failed(attempt) {
      if (attempt <= beforeOpening) return
      inARow++
      if (attempt === probe) open(openedFor * 2)
      else if (openUntil === undefined && inARow >= settings.failures) open(settings.openMs)
    },
    abandoned(attempt) {
      if (attempt === probe) probe = undefined
    },
  }
}
