import { hash } from 'node:crypto'
import { loadScript, type RedisClient } from '../redis/redis.ts'

/** One name in one window, and by how much its sum grows. */
interface SharedCount {
  readonly name: string
  readonly window: number
  readonly seconds: number
  readonly count: number
}

const addScript = loadScript(new URL('./lua/add-shared-counts.lua', import.meta.url))

/**
 * Adds up what replicas let through, by name and window. While Redis is unreachable it returns
 * `undefined` and loses what was to be added: each replica continues with its own counts.
 */
export function createRedisSharedCounters({ prefix, runScript }: RedisClient) {
  return async (counts: readonly SharedCount[]): Promise<readonly number[] | undefined> => {
    const keys = counts.map(({ name, window }) => {
      const digest = hash('sha256', JSON.stringify([name, window]), 'base64url')
      return `${prefix}limit:${digest.slice(0, 22)}`
    })
    // Clocks differ: a replica may still be in a window that has ended elsewhere.
    const args = counts.flatMap(({ count, seconds }) => [count, seconds * 2000])
    try {
      const sums = await runScript(addScript, keys, args)
      return Array.isArray(sums) ? sums.map(Number) : undefined
    } catch {
      return undefined
    }
  }
}
