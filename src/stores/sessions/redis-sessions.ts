import { readJson } from '../../kernel/json.ts'
import { loadScript, type RedisClient } from '../redis/redis.ts'
import {
  MOST_SESSIONS,
  type Session,
  type SessionName,
  type SessionStore,
} from './session-store.ts'

const addScript = loadScript(new URL('./lua/add-sessions.lua', import.meta.url))
const seenScript = loadScript(new URL('./lua/mark-seen.lua', import.meta.url))

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
