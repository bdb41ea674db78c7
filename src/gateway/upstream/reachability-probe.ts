/** How long between two probes: at first, and at most. */
const firstMs = 100
const maxMs = 500
const growth = 1.5

interface ProbeParts {
  /** Tries to connect to the target. */
  readonly connect: (settled: (isConnected: boolean) => void) => void
  /** Whether there is still a reason to: the circuit is open. */
  readonly isWanted: () => boolean
  readonly onReachable: () => void
}

/** Connects to a target that could not be reached, until it can be: no request has to find out. */
interface ReachabilityProbe {
  /** Begins, unless it is at work. */
  readonly start: () => void
  readonly close: () => void
}

/** Does nothing until it is started. */
export function createReachabilityProbe(parts: ProbeParts): ReachabilityProbe {
  let isRunning = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  function goOn(ms: number): void {
    // Never in step with the other replicas: a target that comes back must not meet all of them.
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
      else if (isRunning) goOn(Math.min(waitedMs * growth, maxMs))
    })
  }

  return {
    start() {
      if (isRunning || isClosed) return
      isRunning = true
      goOn(firstMs)
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
