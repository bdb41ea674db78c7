/** The first and the longest interval between probes. */
const firstMs = 100
const maxMs = 500
const growth = 1.5

interface ProbeParts {
  /** Tries to connect to the target. */
  readonly connect: (settled: () => void) => void
  /** Whether the target is still unreachable. */
  readonly isWanted: () => boolean
}

/** Connects to an unreachable target until that succeeds, so that no request has to find out. */
export type ReachabilityProbe = ReturnType<typeof createReachabilityProbe>

export function createReachabilityProbe(parts: ProbeParts) {
  let isRunning = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  function schedule(ms: number): void {
    isRunning = parts.isWanted() && !isClosed
    if (!isRunning) return
    // Jitter, so that not all replicas meet a target when it comes back.
    timer = setTimeout(probe, ms * (0.8 + Math.random() * 0.4), ms).unref()
  }
  function probe(waitedMs: number): void {
    if (parts.isWanted()) parts.connect(() => schedule(Math.min(waitedMs * growth, maxMs)))
    else isRunning = false
  }

  return {
    /** Does nothing if it is running. */
    start() {
      if (!isRunning) schedule(firstMs)
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
