/** The first and the longest interval between probes. */
const firstMs = 100
const maxMs = 500
const growth = 1.5

interface ProbeParts {
  /** Tries to connect to the target. */
  readonly connect: (settled: (isConnected: boolean) => void) => void
  /** Whether the circuit is still open. */
  readonly isWanted: () => boolean
  readonly onReachable: () => void
}

/** Connects to an unreachable target until that succeeds, so that no request has to find out. */
export interface ReachabilityProbe {
  /** Does nothing if it is running. */
  readonly start: () => void
  readonly close: () => void
}

export function createReachabilityProbe(parts: ProbeParts): ReachabilityProbe {
  let isRunning = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  function schedule(ms: number): void {
    // Jitter, so that not all replicas meet a target when it comes back.
    timer = setTimeout(probe, ms * (0.8 + Math.random() * 0.4), ms).unref()
  }
  function probe(waitedMs: number): void {
    if (!parts.isWanted()) {
      isRunning = false
      return
    }
    parts.connect((isConnected) => {
      isRunning = !isConnected && !isClosed
      if (isConnected) parts.onReachable()
      else if (isRunning) schedule(Math.min(waitedMs * growth, maxMs))
    })
  }

  return {
    start() {
      if (isRunning || isClosed) return
      isRunning = true
      schedule(firstMs)
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
