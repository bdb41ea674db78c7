/** The time by which a piece of work must be done. */
export type Deadline = ReturnType<typeof createDeadline>

export function createDeadline(ms: number) {
  const end = performance.now() + ms
  // Timers of 0 ms would fire before work that is done already.
  const leftMs = () => Math.max(1, end - performance.now())
  return {
    leftMs,
    /** A part of what is left, and at most `mostMs`. */
    part: (share: number, mostMs = Infinity) => createDeadline(Math.min(leftMs() * share, mostMs)),
  }
}
