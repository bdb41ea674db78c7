import { afterAll, beforeAll } from 'vitest'
import type { SharedStores } from './crew-process.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { type RedisServer, startRedis } from './redis-server.ts'

/** What several workers share, for all tests of the file that asks for it. */
export function useWorkerStores(): () => SharedStores {
  let redis: RedisServer
  let postgres: PostgresServer
  beforeAll(async () => {
    ;[redis, postgres] = await Promise.all([startRedis(), startPostgres()])
  })
  afterAll(async () => {
    await Promise.all([redis.stop(), postgres.stop()])
  })
  return () => ({ redisUrl: redis.url, databaseUrl: postgres.url })
}
