import { onTestFinished } from 'vitest'
import { createRedis, type RedisClient } from '../../src/stores/redis/redis.ts'

export const testPrefix = '{test}:'

/** A connection of our own kind to this Redis, closed with the test. */
export async function connectRedis(
  { url }: { readonly url: string },
  { commandTimeoutMs = 2000 } = {},
): Promise<RedisClient> {
  const client = createRedis({ url, prefix: testPrefix, connectTimeoutMs: 2000, commandTimeoutMs })
  onTestFinished(client.close)
  await client.connect()
  return client
}
