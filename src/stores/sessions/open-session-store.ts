import type { Database } from '../database/database.ts'
import type { RedisClient } from '../redis/redis.ts'
import { createDatabaseSessions } from './database-sessions.ts'
import { createRedisSessions } from './redis-sessions.ts'
import type { SessionStore } from './session-store.ts'

/** Where revocations are stored too: Redis where it is configured, otherwise the accounts' database. */
export function openSessionStore({
  redis,
  database,
}: {
  readonly redis: RedisClient | undefined
  readonly database: Database
}): SessionStore {
  return redis === undefined ? createDatabaseSessions(database) : createRedisSessions(redis)
}
