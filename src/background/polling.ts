/** The first pause after an unanswered attempt; it doubles with each further one. */
const soonMs = 100
const longestPauseMs = 10_000

/**
 * Makes one attempt at a time: at every call of `now`, and at most `everyMs` after the last one, up to
 * half earlier, so that replicas do not poll in step. The attempt must not throw. After `unanswered`
 * the next one follows soon: one late reply must not cost a whole interval.
 */
export function createPolling(attempt: () => Promise<unknown>, everyMs: number) {
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
    return unanswered === 0 ? everyMs : Math.min(everyMs, longestPauseMs, soonMs * 2 ** unanswered)
  }

  /** Makes the attempt now. A call while one is under way makes one more after it. */
  function now(): Promise<void> {
    again = running !== undefined
    clearTimeout(timer)
    if (!closed) running ??= run()
    return running ?? Promise.resolve()
  }

  return {
    now,
    /** Waits for the attempt under way, and makes no other. */
    async close() {
      closed = true
      clearTimeout(timer)
      await running
    },
  }
}
