import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Counters, Limit } from '../login/throttle.ts'

/**
 * Counters of one process. The library keeps a record and a timer for every key until its time is
 * over, without bound: a million addresses cost about 600 MB. Here at most `maxKeys` are kept, and
 * the one that was hit least recently goes first, so that a key under attack stays counted.
 */
export function createMemoryCounters({ maxKeys = 50_000 } = {}): Counters {
  const limiters = new Map<string, RateLimiterMemory>()
  /** Key and limiter, the least recently hit first. */
  const kept = new Map<string, { readonly key: string; readonly limiter: RateLimiterMemory }>()

  function limiterFor({ points, seconds }: Limit): { id: string; limiter: RateLimiterMemory } {
    const id = `${points}/${seconds}`
    const limiter = limiters.get(id) ?? new RateLimiterMemory({ points, duration: seconds })
    limiters.set(id, limiter)
    return { id, limiter }
  }

  async function keep(name: string, key: string, limiter: RateLimiterMemory): Promise<void> {
    kept.delete(name)
    kept.set(name, { key, limiter })
    for (const [oldest, entry] of kept) {
      if (kept.size <= maxKeys) break
      kept.delete(oldest)
      await entry.limiter.delete(entry.key)
    }
  }

  return {
    async hit(key, limit) {
      const { id, limiter } = limiterFor(limit)
      await keep(`${id} ${key}`, key, limiter)
      try {
        await limiter.consume(key)
        return { allowed: true, retryAfterSeconds: 0 }
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused
        return { allowed: false, retryAfterSeconds: Math.ceil(refused.msBeforeNext / 1000) }
      }
    },
    async takeBack(key, limit) {
      await limiterFor(limit).limiter.reward(key)
    },
    async reset(key) {
      for (const [id, limiter] of limiters) {
        kept.delete(`${id} ${key}`)
        await limiter.delete(key)
      }
    },
  }
}
