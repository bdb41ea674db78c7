import { createRedis, type RedisClient, type RedisSettings } from '../stores/redis/redis.ts'
import type { SharedStores } from './shared-stores.ts'

/** Opens Redis, or borrows the connection that stays open, runs `work` and closes it. */
export async function withRedis<Result>(
  settings: RedisSettings,
  shared: SharedStores | undefined,
  work: (redis: RedisClient) => Promise<Result>,
): Promise<Result> {
  if (shared !== undefined) return work(await shared.redis(settings))
  const redis = createRedis(settings)
  try {
    await redis.connect()
    return await work(redis)
  } finally {
    await redis.close()
  }
}
