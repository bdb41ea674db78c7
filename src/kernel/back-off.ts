/** A worker that served this long did not fail at its start. */
const stableMs = 60_000
const firstMs = 250
const longestMs = 30_000

/**
 * How long a slot waits for its next process: not at all after the first exit, then exponentially
 * longer.
 */
export function createBackOff() {
  let exits = 0

  return {
    /** The delay after a process that exited by itself. */
    after(servedMs: number) {
      exits = servedMs >= stableMs ? 1 : exits + 1
      if (exits === 1) return 0
      return Math.min(longestMs, firstMs * 2 ** (exits - 2))
    },
  }
}
