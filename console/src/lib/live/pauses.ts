const [firstMs, mostMs] = [500, 30_000]

/**
 * How long to wait before the next attempt after so many failures: twice as long each time. `random`,
 * from 0 to 1, keeps many pages from returning at the same moment.
 */
export function pauseAfter(failures: number, random: number, first = firstMs): number {
  const ms = Math.min(mostMs, first * 2 ** Math.min(failures - 1, 20))
  return Math.round(ms * (0.75 + random / 2))
}

/** Ends early when the signal does. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal.aborted) return Promise.resolve()
  const done = () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', done)
    resolve()
  }
  const timer = setTimeout(done, ms)
  signal.addEventListener('abort', done)
  return promise
}
