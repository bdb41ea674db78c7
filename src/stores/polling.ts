export interface Polling {
  /** Makes the attempt now. A call while one is under way makes one more after it. */
  readonly now: () => Promise<void>
  /** Waits for the attempt under way, and makes no other. */
  readonly close: () => Promise<void>
}

/**
 * Makes an attempt whenever told to, and `everyMs` after the last one at the latest: up to half
 * earlier, so that replicas do not ask in step. One at a time. The attempt must not throw.
 */
export function createPolling(attempt: () => Promise<void>, everyMs: number): Polling {
  let running: Promise<void> | undefined
  let again = false
  let closed = false
  let timer: NodeJS.Timeout | undefined

  async function run(): Promise<void> {
    do {
      again = false
      await attempt()
    } while (again && !closed)
    running = undefined
    if (!closed) timer = setTimeout(now, everyMs * (0.5 + Math.random() / 2))
  }

  function now(): Promise<void> {
    again = running !== undefined
    clearTimeout(timer)
    if (!closed) running ??= run()
    return running ?? Promise.resolve()
  }

  return {
    now,
    async close() {
      closed = true
      clearTimeout(timer)
      await running
    },
  }
}
