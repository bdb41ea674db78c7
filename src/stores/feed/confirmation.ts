/**
 * When something was last confirmed, and how long ago that is. Measures the age with two clocks and
 * uses the greater value: a clock that is set back, or was ahead when the time was recorded, cannot
 * lower the age, nor can a machine that slept.
 */
export function createConfirmation() {
  let wall: number | undefined
  let steady = 0
  return {
    /** It was confirmed now or at this wall-clock time. */
    confirm(at = Date.now()) {
      wall = Math.min(at, Date.now())
      steady = performance.now() - (Date.now() - wall)
    },
    /** Wall-clock time; `undefined` before the first confirmation. */
    at: () => wall,
    ageMs: () =>
      wall === undefined ? undefined : Math.max(Date.now() - wall, performance.now() - steady),
  }
}
