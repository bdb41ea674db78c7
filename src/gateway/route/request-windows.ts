import { createLru } from '../../kernel/lru.ts'
import type { RouteLimit } from './route.ts'

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
  /** Absent without a burst. The next window of the name goes on with it. */
  readonly bucket: Bucket | undefined
}

/** A token bucket, as the moment at which it is full again (GCRA). */
interface Bucket {
  fullAt: number
  /** How long one request takes to come back, in ms. */
  intervalMs: number
}

type Limit = Pick<RouteLimit, 'requests' | 'seconds' | 'burst'>

/** What `take` found. Zero `retryAfterSeconds`: the request is allowed. */
interface Taken {
  readonly retryAfterSeconds: number
  readonly remaining: number
  /** When `remaining` is the whole limit again. */
  readonly resetSeconds: number
}

/** Further names wait for the next round, so that a message to Redis stays small. */
const maxShared = 1000

/**
 * Counts requests in windows of fixed length or, with a burst, in a token bucket. The count of this
 * process is exact and local; the counts of other replicas arrive in the background, one round later.
 * Keeps at most `maxNames`, and drops the least recently used first.
 */
export function createRequestWindows(parts: RequestWindowParts) {
  const { now, share, shareEveryMs = 500, maxNames = 100_000 } = parts
  const unshared = new Set<Window>()
  // A dropped window is not shared: names that arrive faster than rounds would otherwise pile up.
  const windows = createLru<Window>(maxNames, (window) => void unshared.delete(window))
  let isSharing = false

  function windowOf(name: string, { seconds, requests, burst }: Limit, at: number): Window {
    const number = Math.floor(at / (seconds * 1000))
    const found = windows.get(name)
    const intervalMs = (seconds * 1000) / requests
    if (found?.window === number && (burst === undefined) === (found.bucket === undefined)) {
      if (found.bucket !== undefined) found.bucket.intervalMs = intervalMs
      return found
    }
    const bucket = burst === undefined ? undefined : (found?.bucket ?? { fullAt: 0, intervalMs })
    const fresh = { name, window: number, seconds, count: 0, unshared: 0, bucket }
    windows.set(name, fresh)
    return fresh
  }

  /** Counts one request, if it is allowed. */
  function take(name: string, limit: Limit): Taken {
    const at = now()
    const current = windowOf(name, limit, at)
    const taken =
      current.bucket === undefined
        ? fromWindow(current, limit, at)
        : fromBucket(current.bucket, limit.burst ?? 1, at)
    if (taken.retryAfterSeconds > 0) return taken
    current.count++
    if (share !== undefined) {
      current.unshared++
      unshared.add(current)
    }
    return taken
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
      const count = Math.max(one.count, (sums?.[index] ?? 0) + one.unshared)
      const { bucket } = one
      if (bucket !== undefined && count > one.count) {
        bucket.fullAt = Math.max(bucket.fullAt, now()) + (count - one.count) * bucket.intervalMs
      }
      one.count = count
    })
    isSharing = false
  }

  const timer = share && setInterval(shareRound, shareEveryMs)
  timer?.unref()

  return { take, close: () => clearInterval(timer) }
}

const inSeconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000))

function fromWindow({ window, count }: Window, { requests, seconds }: Limit, at: number): Taken {
  const resetSeconds = inSeconds((window + 1) * seconds * 1000 - at)
  const isOver = count >= requests
  return {
    retryAfterSeconds: isOver ? resetSeconds : 0,
    remaining: isOver ? 0 : requests - count - 1,
    resetSeconds,
  }
}

function fromBucket(bucket: Bucket, burst: number, at: number): Taken {
  const { intervalMs } = bucket
  const fullAt = Math.max(bucket.fullAt, at) + intervalMs
  const excess = fullAt - at - burst * intervalMs
  // Less is an error of rounding.
  if (excess > 0.01) {
    const resetSeconds = inSeconds(bucket.fullAt - at)
    return { retryAfterSeconds: inSeconds(excess), remaining: 0, resetSeconds }
  }
  bucket.fullAt = fullAt
  const remaining = Math.max(0, Math.floor(burst - (fullAt - at) / intervalMs + 0.001))
  return { retryAfterSeconds: 0, remaining, resetSeconds: inSeconds(fullAt - at) }
}
