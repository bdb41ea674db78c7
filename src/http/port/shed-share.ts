/** Below 1, so that some requests are always served and show when the overload ends. */
const maxShare = 0.9
const step = 0.1

/**
 * The share of new requests to shed, derived from the delay of the event loop. Reacts to a standing
 * queue, not to a burst: the measure is the minimum delay of a window, as in CoDel (RFC 8289). One
 * long pause, for a garbage collection or a new policy, has short delays before and after it. The
 * share grows while the delay stays above the limit and falls once it is below half of it, so it
 * settles where the process can keep up.
 */
export function createShedShare(limitMs: number) {
  let share = 0
  let standing = 0
  let least = Number.POSITIVE_INFINITY
  let samples = 0
  let since: number | undefined

  /** Shedding starts slowly and then adjusts quickly. */
  function isComplete(atMs: number, from: number): boolean {
    return share === 0 ? samples >= 3 && atMs - from >= 1000 : samples >= 2 && atMs - from >= 250
  }

  return {
    /** From 0 to `maxShare`. */
    now: () => share,
    /** The minimum delay of the last window: what every request waits. */
    standingMs: () => standing,
    /** Adds one measured delay and its time. */
    sample(lateMs: number, atMs: number) {
      since ??= atMs - lateMs
      samples++
      least = Math.min(least, lateMs)
      if (!isComplete(atMs, since)) return
      standing = least
      // A late event loop also samples less often, so it takes larger steps.
      const more = step * Math.min(4, standing / limitMs)
      if (standing > limitMs) share = Math.min(maxShare, share + more)
      else if (standing < limitMs / 2) share = share <= step ? 0 : share - step / 2
      since = atMs
      samples = 0
      least = Number.POSITIVE_INFINITY
    },
  }
}
