/** When something was last confirmed, and how long ago that is. */
interface Confirmation {
  /** It was confirmed now or, by the clock on the wall, then. */
  readonly confirm: (at?: number) => void
  /** By the clock on the wall; `undefined` before anything was confirmed. */
  readonly at: () => number | undefined
  readonly ageMs: () => number | undefined
}

/**
 * Counts the age by two clocks and believes the one that says more: a clock that is set back, or was
 * ahead when the time was noted, does not make anything younger, nor does a machine that slept.
 */
export function createConfirmation(): Confirmation {
  let wall: number | undefined
  let steady = 0
  return {
    confirm(at = Date.now()) {
      wall = Math.min(at, Date.now())
      steady = performance.now() - (Date.now() - wall)
    },
    at: () => wall,
    ageMs: () =>
      wall === undefined ? undefined : Math.max(Date.now() - wall, performance.now() - steady),
  }
}
