/** Which share of new requests is to be refused, by how late the event loop comes to its work. */
interface ShedShare {
  /** From 0 to `mostShed`. */
  readonly now: () => number
  /** How late the event loop was at the least, lately: what every request waits. */
  readonly standingMs: () => number
  /** How late it was just now, and when that was. */
  readonly sample: (lateMs: number, atMs: number) => void
}

/** So that some are always served, and it is seen by them when all is well again. */
const mostShed = 0.9
const step = 0.1

/**
 * A queue that stands, and not one that a burst leaves behind: what counts is the least delay of a
 * while, as CoDel (RFC 8289) has it for packets. One long hold of the loop, by a collection of garbage
 * or a new policy, has short delays before and after it. The share grows while the delay stays above
 * the limit, falls once it is below half of it, and so comes to rest where the work can be done.
 */
export function createShedShare(limitMs: number): ShedShare {
  let share = 0
  let standing = 0
  let least = Number.POSITIVE_INFINITY
  let samples = 0
  let since: number | undefined

  /** To begin takes longer than to follow. */
  function isWhole(atMs: number, from: number): boolean {
    return share === 0 ? samples >= 3 && atMs - from >= 1000 : samples >= 2 && atMs - from >= 250
  }

  return {
    now: () => share,
    standingMs: () => standing,
    sample(lateMs, atMs) {
      since ??= atMs - lateMs
      samples++
      least = Math.min(least, lateMs)
      if (!isWhole(atMs, since)) return
      standing = least
      // The later it is, the longer the next look takes to come.
      const more = step * Math.min(4, standing / limitMs)
      if (standing > limitMs) share = Math.min(mostShed, share + more)
      else if (standing < limitMs / 2) share = share <= step ? 0 : share - step / 2
      since = atMs
      samples = 0
      least = Number.POSITIVE_INFINITY
    },
  }
}
