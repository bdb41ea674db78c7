/** The time by which a piece of work must be done. */
export interface Deadline {
  readonly leftMs: () => number
  /** A part of what is left, and at most `mostMs`. */
  readonly part: (share: number, mostMs?: number) => Deadline
}

export function createDeadline(ms: number): Deadline {
  const end = performance.now() + ms
  // Timers of 0 ms would fire before work that is done already.
  const leftMs = () => Math.max(1, end - performance.now())
  return {
    leftMs,
    part: (share, mostMs = Infinity) => createDeadline(Math.min(leftMs() * share, mostMs)),
  }
}
