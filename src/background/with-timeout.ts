/** Rejects, and calls `onLate`, when the work takes longer. The work itself is not aborted. */
export async function withTimeout<T>(
  timeoutMs: number,
  work: Promise<T>,
  onLate?: () => void,
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new Error(`timeout: no reply within ${timeoutMs} ms`))
    onLate?.()
  }, timeoutMs)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
