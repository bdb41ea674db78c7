/** How long a client may leave a response unread. */
export interface UnreadLimits {
  readonly maxStallMs: number
  /** The same while other requests wait for the connection that the response holds. */
  readonly busyStallMs: number
}

interface UnreadEvents {
  /** Whether a request waits for the connection. */
  readonly isWanted: () => boolean
  readonly cut: () => void
}

const lookEveryMs = 1000

/** Calls `cut` when the time for reading is over, unless what it returns is called before. */
export function cutUnlessRead(limits: UnreadLimits, { isWanted, cut }: UnreadEvents): () => void {
  const { maxStallMs, busyStallMs } = limits
  const since = performance.now()
  let timer = setTimeout(look, Math.min(maxStallMs, busyStallMs))

  function look(): void {
    const leftMs = maxStallMs - (performance.now() - since)
    if (leftMs <= 0 || isWanted()) cut()
    else timer = setTimeout(look, Math.min(leftMs, lookEveryMs))
  }

  return () => clearTimeout(timer)
}
