interface Polling {
  /** Makes the attempt now. A call while one is under way makes one more after it. */
  readonly now: () => Promise<void>
  /** Waits for the attempt under way, and makes no other. */
  readonly close: () => Promise<void>
}

/** How soon a first attempt that met with silence is made again; each further one waits twice as long. */
const soonMs = 100

/**
 * Makes an attempt whenever told to, and `everyMs` after the last one at the latest: up to half
 * earlier, so that replicas do not ask in step. One at a time. The attempt must not throw; it says
 * `unanswered` when nobody was there to ask, and is then made again soon: one answer that came too
 * late must not cost a whole interval.
 */
export function createPolling(attempt: () => Promise<unknown>, everyMs: number): Polling {
  let unanswered = 0
  let running: Promise<void> | undefined
  let again = false
  let closed = false
  let timer: NodeJS.Timeout | undefined

  async function run(): Promise<void> {
    do {
      again = false
      unanswered = (await attempt()) === 'unanswered' ? unanswered + 1 : 0
    } while (again && !closed)
    running = undefined
    if (!closed) timer = setTimeout(now, delayMs() * (0.5 + Math.random() / 2))
  }
  function delayMs(): number {
    return unanswered === 0 ? everyMs : Math.min(everyMs, soonMs * 2 ** unanswered)
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
