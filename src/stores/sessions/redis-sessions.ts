import { readJson } from '../json-text.ts'
import type { RedisClient } from '../redis/redis.ts'
import {
  MOST_SESSIONS,
  type Session,
  type SessionName,
  type SessionStore,
} from './session-store.ts'

/**
 * Adds sessions of one user, and deletes the oldest of too many and those that expired. A value is
 * `seen expires` and the rest as JSON. The keys of a user expire with the last session.
 *
 * KEYS: the user's sessions, their ids by issue time, all users by their latest expiry. ARGV: the
 * user, the most sessions of a user; then id, issue time, expiry and value of each.
 */
const addScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for at = 3, #ARGV, 4 do
  if redis.call('HSETNX', KEYS[1], ARGV[at], ARGV[at + 3]) == 1 then
    redis.call('ZADD', KEYS[2], ARGV[at + 1], ARGV[at])
  end
  local latest = tonumber(redis.call('ZSCORE', KEYS[3], ARGV[1]) or 0)
  if latest < tonumber(ARGV[at + 2]) then redis.call('ZADD', KEYS[3], ARGV[at + 2], ARGV[1]) end
end
local surplus = redis.call('ZCARD', KEYS[2]) - ARGV[2]
while true do
  local id = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  if not id then break end
  local value = redis.call('HGET', KEYS[1], id) or ''
  local ends = tonumber(string.match(value, '^%d+ (%d+) ') or 0)
  if surplus <= 0 and ends > now then break end
  redis.call('HDEL', KEYS[1], id)
  redis.call('ZREM', KEYS[2], id)
  surplus = surplus - 1
end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
local latest = redis.call('ZSCORE', KEYS[3], ARGV[1])
if latest then
  redis.call('PEXPIREAT', KEYS[1], latest)
  redis.call('PEXPIREAT', KEYS[2], latest)
end
local last = redis.call('ZREVRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2]
if last then redis.call('PEXPIREAT', KEYS[3], last) end
return 0
`

/** KEYS: the sessions of one user each. ARGV: for each session the index of its key, id and time. */
const seenScript = `
for at = 1, #ARGV, 3 do
  local key, id, seen = KEYS[tonumber(ARGV[at])], ARGV[at + 1], ARGV[at + 2]
  local before, rest = string.match(redis.call('HGET', key, id) or '', '^(%d+)( .*)$')
  if before and tonumber(before) < tonumber(seen) then redis.call('HSET', key, id, seen .. rest) end
end
return 0
`

/** Users of one reply, and fields of one reply: reading must not block Redis for others. */
const USERS_PER_READ = 100

/** Sessions in Redis, in two keys for each user. */
export function createRedisSessions({ prefix, run, runScript }: RedisClient): SessionStore {
  const users = `${prefix}sessions`
  const sessionsOf = (userId: string) => `${prefix}sessions:${userId}`
  const orderOf = (userId: string) => `${prefix}sessions:${userId}:order`

  async function ofUser(userId: string): Promise<readonly Session[]> {
    const found = await run((commands) => commands.hgetall(sessionsOf(userId)))
    return Object.entries(found).flatMap(([id, value]) => parse({ id, userId }, value) ?? [])
  }

  async function ofAll(): Promise<readonly Session[]> {
    const userIds = await run((commands) => commands.zrange(users, '0', '-1'))
    const found: Session[] = []
    for (let at = 0; at < userIds.length; at += USERS_PER_READ) {
      const part = await Promise.all(userIds.slice(at, at + USERS_PER_READ).map(ofUser))
      for (const sessions of part) found.push(...sessions)
    }
    return found
  }

  return {
    async add(sessions) {
      for (const [userId, own] of Map.groupBy(sessions, (session) => session.userId)) {
        const values = own.flatMap((session) => {
          const { id, issuedAt, expiresAt } = session
          return [id, issuedAt, expiresAt, storedForm(session)]
        })
        const keys = [sessionsOf(userId), orderOf(userId), users]
        await runScript(addScript, keys, [userId, MOST_SESSIONS, ...values])
      }
    },
    async markSeen(seen) {
      const keys = [...new Set(seen.map(({ userId }) => sessionsOf(userId)))]
      if (keys.length === 0) return
      const indexes = new Map(keys.map((key, at) => [key, at + 1]))
      const values = seen.flatMap(({ id, userId, seenAt }) => {
        return [indexes.get(sessionsOf(userId)) ?? 0, id, seenAt]
      })
      await runScript(seenScript, keys, values)
    },
    async remove(sessions) {
      for (const [userId, own] of Map.groupBy(sessions, (session) => session.userId)) {
        const ids = own.map(({ id }) => id)
        await run((commands) => commands.hdel(sessionsOf(userId), ...ids))
        await run((commands) => commands.zrem(orderOf(userId), ...ids))
      }
    },
    async list(userId) {
      const found = userId === undefined ? await ofAll() : await ofUser(userId)
      const now = Date.now()
      return found.filter(({ expiresAt }) => expiresAt > now)
    },
  }
}

function storedForm({ username, roleKey, address, agent, ...rest }: Session): string {
  const { seenAt, expiresAt, issuedAt } = rest
  return `${seenAt} ${expiresAt} ${JSON.stringify([issuedAt, username, roleKey, address, agent])}`
}

/** `undefined` for a value that no gateway wrote. */
function parse(name: SessionName, value: string): Session | undefined {
  const [, seen, expires, json = ''] = /^(\d{1,16}) (\d{1,16}) (.*)$/s.exec(value) ?? []
  const parts = readJson(json)
  if (!Array.isArray(parts)) return undefined
  const [issuedAt, ...texts] = parts as readonly unknown[]
  if (!Number.isSafeInteger(issuedAt) || !texts.every((text) => typeof text === 'string')) {
    return undefined
  }
  const [username = '', roleKey = '', address = '', agent = ''] = texts
  const times = { issuedAt: issuedAt as number, expiresAt: Number(expires), seenAt: Number(seen) }
  return { ...name, username, roleKey, address, agent, ...times }
}
