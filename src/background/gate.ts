import { withTimeout } from './with-timeout.ts'

interface GateLimits {
  readonly running: number
  readonly waiting: number
  /** What is thrown when too many wait, or when the turn does not come in time. */
  readonly tooMany: () => Error
}

/** Lets a number of pieces of work run at once and others wait, in order; the rest are refused at once. */
export function createGate({ running: most, waiting: mostWaiting, tooMany }: GateLimits) {
  const waiting = new Set<() => void>()
  let running = 0

  function leave(): void {
    const [next] = waiting
    if (next === undefined) running--
    else {
      waiting.delete(next)
      next()
    }
  }

  async function enter(withinMs: number | undefined): Promise<void> {
    if (running < most) {
      running++
      return
    }
    if (waiting.size >= mostWaiting) throw tooMany()
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.add(resolve)
    if (withinMs === undefined) return promise
    await withTimeout(withinMs, promise).catch(() => {
      // The turn may have come in the same moment.
      if (!waiting.delete(resolve)) leave()
      throw tooMany()
    })
  }

  /** Runs the work when its turn has come. Unset `withinMs`: it waits for as long as that takes. */
  return async <T>(work: () => Promise<T>, withinMs?: number): Promise<T> => {
    await enter(withinMs)
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
