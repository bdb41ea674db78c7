import type { LockoutRecords, StoredLockout } from '../../login/lockouts/lockout.ts'
import type { RedisClient } from '../redis/redis.ts'

const maxRecords = 10_000

/**
 * The sorted set has the key of every open lock-out with its end, the hash has its record. The
 * counters say whether it is still open.
 *
 * KEYS: the sorted set, the hash. ARGV: how many to keep; for each its key, kind, sealed text and rest
 * in ms.
 */
const addScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function forget(keys)
  for _, key in ipairs(keys) do
    redis.call('ZREM', KEYS[1], key)
    redis.call('HDEL', KEYS[2], key)
  end
end

if redis.call('ZCARD', KEYS[1]) == 0 then redis.call('DEL', KEYS[2]) end
-- A few at a time: no login must wait while thousands are deleted.
forget(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, 1000))
local longest = 0
for at = 2, #ARGV, 4 do
  longest = math.max(longest, tonumber(ARGV[at + 3]))
  redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[at + 3]), ARGV[at])
  redis.call('HSET', KEYS[2], ARGV[at], string.format('%s %.0f %s', ARGV[at + 1], now, ARGV[at + 2]))
end
local surplus = redis.call('ZCARD', KEYS[1]) - ARGV[1]
if surplus > 0 then forget(redis.call('ZRANGE', KEYS[1], 0, math.min(surplus, 1000) - 1)) end
for index = 1, 2 do
  local left = math.max(redis.call('PTTL', KEYS[index]), longest)
  redis.call('PEXPIRE', KEYS[index], string.format('%.0f', left))
end
return 1
`

/** KEYS as above. ARGV: the prefix of counters. Returns key, end and record of each open lock-out. */
const listScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = {}
for _, key in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.0f', now), '+inf')) do
  local state = redis.call('GET', ARGV[1] .. key) or ''
  local till = tonumber(string.match(state, ' (%d+)$'))
  if till and now < till then
    found[#found + 1] = key
    found[#found + 1] = string.format('%.0f', till)
    found[#found + 1] = redis.call('HGET', KEYS[2], key) or ''
  end
end
return found
`

/**
 * Deletes counters and their records, if one of them is locked out: what ends nothing changes nothing.
 * KEYS: as above, then the counters. ARGV: the names of the counters without the prefix. Returns those
 * that were locked out.
 */
const clearScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ended = {}
for index = 1, #ARGV do
  local till = tonumber(string.match(redis.call('GET', KEYS[index + 2]) or '', ' (%d+)$'))
  if till and now < till then ended[#ended + 1] = ARGV[index] end
end
if #ended == 0 then return ended end
for index = 1, #ARGV do
  redis.call('DEL', KEYS[index + 2])
  redis.call('ZREM', KEYS[1], ARGV[index])
  redis.call('HDEL', KEYS[2], ARGV[index])
end
return ended
`

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
