import type { LockoutRecords, StoredLockout } from '../../login/lockouts/lockout.ts'
import { loadScript, type RedisClient } from '../redis/redis.ts'
import { forgetFunction } from './redis-counters.ts'

const maxRecords = 10_000

const addScript = loadScript(new URL('./lua/add-lockouts.lua', import.meta.url), { forgetFunction })
const listScript = loadScript(new URL('./lua/list-lockouts.lua', import.meta.url))
const clearScript = loadScript(new URL('./lua/clear-lockouts.lua', import.meta.url))

/** Records of the lock-outs that Redis counts. At most 10,000; the one that ends first is dropped. */
export function createRedisLockouts(redis: RedisClient) {
  const keys = [`${redis.prefix}login:lockouts`, `${redis.prefix}login:lockouts:records`] as const

  const records: LockoutRecords = {
    async add(added) {
      const values = added.flatMap(({ key, kind, sealed, leftMs }) => [key, kind, sealed, leftMs])
      await redis.runScript(addScript, keys, [maxRecords, ...values])
    },
  }

  return {
    records,
    async list(): Promise<readonly StoredLockout[]> {
      const answer = await redis.runScript(listScript, keys, [redis.prefix])
      return parseList(Array.isArray(answer) ? answer.map(String) : [])
    },
    /** Ends the lock-outs under these keys and forgets what they count. Returns those that were open. */
    async clear(names: readonly string[]): Promise<readonly string[]> {
      const counters = names.map((name) => `${redis.prefix}${name}`)
      const ended = await redis.runScript(clearScript, [...keys, ...counters], names)
      return Array.isArray(ended) ? ended.map(String) : []
    },
  }
}

function parseList(texts: readonly string[]): readonly StoredLockout[] {
  const found: StoredLockout[] = []
  for (let at = 0; at + 2 < texts.length; at += 3) {
    const [key = '', till = '', record = ''] = texts.slice(at, at + 3)
    const [, kind = '', since = '', sealed = ''] = /^(\w+) (\d+) ([\w-]+)$/.exec(record) ?? []
    found.push({ key, kind, sealed, sinceMs: Number(since), untilMs: Number(till) })
  }
  return found
}
