/** Rejects when the work has not ended by then; the work itself is left to end by itself. */
export async function withTimeout<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new Error(`timeout: no reply within ${timeoutMs} ms`)),
    timeoutMs,
  )
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
