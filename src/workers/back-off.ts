/** A worker that served so long did not fail at its start. */
const soundMs = 60_000
const firstMs = 250
const longestMs = 30_000

/** How long a place stays empty: the first loss is made good at once, repeated ones ever later. */
interface BackOff {
  /** The pause after a process that ended by itself, having served so long. */
  readonly after: (servedMs: number) => number
}

/** Starts without losses. */
export function createBackOff(): BackOff {
  let losses = 0

  return {
    after(servedMs) {
      losses = servedMs >= soundMs ? 1 : losses + 1
      if (losses === 1) return 0
      return Math.min(longestMs, firstMs * 2 ** (losses - 2))
    },
  }
}
