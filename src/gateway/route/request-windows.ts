import { createLru } from '../../kernel/lru.ts'

/** The requests that this process allowed under one name since it last shared its count. */
export interface WindowCount {
  readonly name: string
  /** The index of the window, counted from the epoch. */
  readonly window: number
  readonly seconds: number
  readonly count: number
}

/** Adds counts to those of all replicas and returns the sums; `undefined` if that failed. */
type ShareCounts = (counts: readonly WindowCount[]) => Promise<readonly number[] | undefined>

export interface RequestWindowParts {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Absent if this is the only process. */
  readonly share?: ShareCounts | undefined
  readonly shareEveryMs?: number
  /** The most names to count at a time. */
  readonly maxNames?: number
}

interface Window {
  readonly name: string
  readonly window: number
  readonly seconds: number
  /** The last known sum of all replicas, and what this process allowed since. */
  count: number
  unshared: number
}

/** Further names wait for the next round, so that a message to Redis stays small. */
const maxShared = 1000

/**
 * Counts requests in windows of fixed length. The count of this process is exact and local; the counts
 * of other replicas arrive in the background, one round later. Keeps at most `maxNames`, and drops the
 * least recently used first.
 */
export function createRequestWindows(parts: RequestWindowParts) {
  const { now, share, shareEveryMs = 500, maxNames = 100_000 } = parts
  const unshared = new Set<Window>()
  // A dropped window is not shared: names that arrive faster than rounds would otherwise pile up.
  const windows = createLru<Window>(maxNames, (window) => void unshared.delete(window))
  let isSharing = false

  function windowOf(name: string, seconds: number): Window {
    const number = Math.floor(now() / (seconds * 1000))
    const found = windows.get(name)
    if (found?.window === number) return found
    const fresh = { name, window: number, seconds, count: 0, unshared: 0 }
    windows.set(name, fresh)
    return fresh
  }

  /** Counts one request. Returns 0, or the seconds until another one is allowed. */
  function take(name: string, limit: { readonly requests: number; readonly seconds: number }) {
    const current = windowOf(name, limit.seconds)
    if (current.count >= limit.requests) {
      const endsAt = (current.window + 1) * limit.seconds * 1000
      return Math.max(1, Math.ceil((endsAt - now()) / 1000))
    }
    current.count++
    if (share !== undefined) {
      current.unshared++
      unshared.add(current)
    }
    return 0
  }

  async function shareRound(): Promise<void> {
    if (share === undefined || isSharing || unshared.size === 0) return
    isSharing = true
    const batch = [...unshared].slice(0, maxShared)
    const counts = batch.map((one) => ({
      name: one.name,
      window: one.window,
      seconds: one.seconds,
      count: one.unshared,
    }))
    for (const one of batch) {
      one.unshared = 0
      unshared.delete(one)
    }
    const sums = await share(counts)
    batch.forEach((one, index) => {
      // The sum lacks what was counted since the message was sent.
      one.count = Math.max(one.count, (sums?.[index] ?? 0) + one.unshared)
    })
    isSharing = false
  }

  const timer = share && setInterval(shareRound, shareEveryMs)
  timer?.unref()

  return { take, close: () => clearInterval(timer) }
}
