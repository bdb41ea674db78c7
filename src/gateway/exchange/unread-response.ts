/** How long a client may leave a response unread. */
export interface UnreadLimits {
  readonly maxStallMs: number
  /** The limit while other requests wait for the connection that the response holds. */
  readonly busyStallMs: number
}

interface UnreadEvents {
  /** Whether a request waits for the connection. */
  readonly isWanted: () => boolean
  readonly cut: () => void
}

const checkEveryMs = 1000

/** Calls `cut` when the time for reading is up. The function it returns cancels that. */
export function cutUnlessRead(limits: UnreadLimits, { isWanted, cut }: UnreadEvents): () => void {
  const { maxStallMs, busyStallMs } = limits
  const since = performance.now()
  let timer = setTimeout(check, Math.min(maxStallMs, busyStallMs))

  function check(): void {
    const leftMs = maxStallMs - (performance.now() - since)
    if (leftMs <= 0 || isWanted()) cut()
    else timer = setTimeout(check, Math.min(leftMs, checkEveryMs))
  }

  return () => clearTimeout(timer)
}
