const REGULARLY_MS = 300_000
/**
 * A thousand gateways that all compare at the moment Redis returns would overload it. Redis takes
 * about 2 µs for each entry it gives out: at 5 ms each, a thousand gateways take less than half of
 * it.
 */
const SPREAD_FOR_EACH_MS = 5
const MAX_SPREAD_MS = 5000
/** Fewer are compared at once: a thousand gateways together take a tenth of a second of Redis. */
const FEW = 50
/**
 * A connection that is lost again and again must not cost a comparison each time: one that follows
 * another within this time may wait twice as long as that.
 */
const RECENT_MS = 60_000
/** An answer that came too late says that Redis is overloaded: each further attempt waits longer. */
const FIRST_WAIT_MS = 1000
const MAX_WAIT_MS = 60_000

interface ComparisonTimesParts {
  /** Milliseconds, from any start. */
  readonly now?: () => number
  /** From 0 to less than 1. */
  readonly random?: () => number
}

/** When a gateway next compares its whole list with the one in the store. */
export function createComparisonSchedule({
  now = () => performance.now(),
  random = Math.random,
}: ComparisonTimesParts = {}) {
  let at = Number.NEGATIVE_INFINITY
  let isSet = false
  let failures = 0
  let repeats = 0
  let doneAt = Number.NEGATIVE_INFINITY

  function spreadMs(entries: number): number {
    return entries < FEW ? 0 : Math.min(entries * SPREAD_FOR_EACH_MS, MAX_SPREAD_MS)
  }

  return {
    isDue: () => now() >= at,
    /** Something may be missing on either side: compare soon. Leaves a time that is set already. */
    soon(entries: number) {
      if (isSet) return
      isSet = true
      const widest = Math.min(spreadMs(entries) * 2 ** repeats, MAX_WAIT_MS)
      at = now() + random() * widest
    },
    /** One begins. What asks for one from now on asks for another. */
    begun() {
      isSet = false
    },
    done() {
      failures = 0
      const since = now() - doneAt
      repeats = since < RECENT_MS ? repeats + 1 : 0
      doneAt = now()
      if (!isSet) at = now() + REGULARLY_MS * (0.5 + random() / 2)
    },
    failed(entries: number) {
      isSet = true
      const base = Math.max(FIRST_WAIT_MS, spreadMs(entries))
      at = now() + random() * Math.min(base * 2 ** failures, MAX_WAIT_MS)
      failures++
    },
  }
}
