import type { AlsoDone, Counted, Counters, Hit } from '../../login/throttle.ts'
import { loadScript, type RedisClient } from '../redis/redis.ts'
import type { MemoryCounters } from './memory-counters.ts'

export const forgetFunction = loadScript(new URL('./lua/forget.lua', import.meta.url))
export const hitScript = loadScript(new URL('./lua/count-hits.lua', import.meta.url))
const takeBackScript = loadScript(new URL('./lua/take-back-hits.lua', import.meta.url))

interface RedisCounterParts {
  readonly redis: RedisClient
  /** Counts while Redis is unreachable, and keeps the marks that this process set. */
  readonly local: MemoryCounters
  /** Called with the reason when local counting begins, and without one when it ends. */
  readonly onUnreachable: (reason: string | undefined) => void
  /** Milliseconds of a clock that is never set back. */
  readonly now?: () => number
}

/** After a failure that took longer than this, Redis is not asked again for a second. */
const slowMs = 50
const restMs = 1000

/**
 * Counters that all replicas share. While Redis is unreachable, or its reply makes no sense, this
 * process counts locally with the same limits.
 */
export function createRedisCounters(parts: RedisCounterParts): Counters {
  const { redis, local, onUnreachable, now = () => performance.now() } = parts
  let isUnreachable = false
  let restsUntil = 0

  async function ask(script: string, keys: readonly string[], args: readonly (string | number)[]) {
    if (now() < restsUntil) return undefined
    const askedAt = now()
    try {
      const names = keys.map((key) => `${redis.prefix}${key}`)
      const answer = await redis.runScript(script, names, args)
      if (isUnreachable) onUnreachable(undefined)
      isUnreachable = false
      return answer
    } catch (error) {
      if (now() - askedAt > slowMs) restsUntil = now() + restMs
      if (!isUnreachable) onUnreachable(error instanceof Error ? error.message : String(error))
      isUnreachable = true
      return undefined
    }
  }

  async function takeBack(hits: readonly Hit[], also: AlsoDone | undefined): Promise<void> {
    const { clear, mark } = also ?? {}
    const cleared = clear === undefined ? [] : [clear]
    const keys = hits.map(({ key }) => key).filter((key) => key !== clear)
    const markMs = (mark?.seconds ?? 0) * 1000
    if (mark !== undefined && markMs > 0) local.mark(mark.key, mark.seconds)
    // A correct password stays correct when Redis is unreachable.
    await ask(
      takeBackScript,
      [...keys, ...cleared, ...(markMs > 0 && mark !== undefined ? [mark.key] : [])],
      [keys.length, cleared.length, markMs],
    )
  }

  return {
    async hit(hits): Promise<Counted> {
      // A Redis that lost its data has lost the marks too; local marks still count.
      const applicable = hits.filter(
        ({ unless }) => unless === undefined || !local.isMarked(unless),
      )
      const answer = await ask(
        hitScript,
        applicable.flatMap(({ key, unless }) => [key, unless ?? key]),
        applicable.flatMap(({ limit }) => [
          limit.hits,
          limit.windowSeconds * 1000,
          limit.lockoutSeconds * 1000,
          limit.maxLockoutSeconds * 1000,
        ]),
      )
      if (!isAnswer(answer, applicable.length)) return local.hit(hits)

      const [refusedMs, ...flags] = answer
      const counted = refusedMs === 0 ? applicable.filter((_, index) => flags[3 * index] === 1) : []
      const began = applicable.map(({ key }, index) => {
        const [lockouts = 0, lockoutMs = 0] = flags.slice(3 * index + 1)
        return { key, lockoutMs, lockouts }
      })
      return {
        lockedOutSeconds: Math.ceil(refusedMs / 1000),
        began: began.filter(({ lockouts }) => lockouts > 0),
        takeBack: (also) => takeBack(counted, also),
      }
    },
  }
}

/** The rest of the lock-out under a key, in seconds; 0 without one. For operators: counts nothing. */
export async function readLockout(
  redis: RedisClient,
  key: string,
  longestSeconds: number,
): Promise<number> {
  const [text, [now]] = await Promise.all([
    redis.run((commands) => commands.get(`${redis.prefix}${key}`)),
    redis.run((commands) => commands.time()),
  ])
  const [, ends = '0'] = /^\d+ \d+ \d+ (\d+)$/.exec(text ?? '') ?? []
  const left = Math.ceil(Number(ends) / 1000 - Number(now))
  // A moment too far ahead comes from a clock that was set back, and counts as past.
  return left > 0 && left <= longestSeconds ? left : 0
}

function isAnswer(value: unknown, hits: number): value is [number, ...number[]] {
  return (
    Array.isArray(value) &&
    value.length === 3 * hits + 1 &&
    value.every((one) => Number.isInteger(one))
  )
}
