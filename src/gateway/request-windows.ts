import { createLru } from '../lru.ts'

/** What this process let through under one name since it last told the others. */
export interface Tally {
  readonly name: string
  /** The how-manieth window of this length since the epoch. */
  readonly window: number
  readonly seconds: number
  readonly count: number
}

/** Adds tallies to those of all replicas and returns the sums; `undefined` when that failed. */
type ShareTallies = (tallies: readonly Tally[]) => Promise<readonly number[] | undefined>

export interface RequestWindowParts {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Absent where there is one process only. */
  readonly share?: ShareTallies | undefined
  readonly shareEveryMs?: number
  /** The most names that are counted at once. */
  readonly maxNames?: number
}

interface Window {
  readonly name: string
  readonly window: number
  readonly seconds: number
  /** Of all replicas as far as they are known, with what this one let through since. */
  count: number
  unshared: number
}

/** Beyond this many, names wait for the next round: a message to Redis stays small. */
const maxShared = 1000

/**
 * Counts requests in windows of fixed length. The count of this process is exact and asks nobody;
 * what other replicas let through is learned in the background, a round later. At most `maxNames`
 * are kept, and the one that was used least recently goes first.
 */
export function createRequestWindows(parts: RequestWindowParts) {
  const { now, share, shareEveryMs = 500, maxNames = 100_000 } = parts
  const unshared = new Set<Window>()
  // What is dropped is not shared either: names could come faster than that, and would all be kept.
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

  /** Counts one request. Returns 0, or for how many seconds there is no room for another. */
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
    const tallies = batch.map((one) => ({
      name: one.name,
      window: one.window,
      seconds: one.seconds,
      count: one.unshared,
    }))
    for (const one of batch) {
      one.unshared = 0
      unshared.delete(one)
    }
    const sums = await share(tallies)
    batch.forEach((one, index) => {
      // What came while the message was under way is not in the sum yet.
      one.count = Math.max(one.count, (sums?.[index] ?? 0) + one.unshared)
    })
    isSharing = false
  }

  const timer = share && setInterval(shareRound, shareEveryMs)
  timer?.unref()

  return { take, close: () => clearInterval(timer) }
}
