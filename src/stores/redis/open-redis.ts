import { createRedis, type RedisClient, type RedisSettings } from './redis.ts'

/**
 * The connection over which replicas share what is neither a policy nor an account; `undefined`
 * where no Redis is configured. One that is away is waited for in the background: until it is
 * there, every command is a Fault. Throws `Invalid` on a URL that cannot be used.
 */
export async function openRedis({
  url,
  ...settings
}: Omit<RedisSettings, 'url'> & { readonly url?: string }): Promise<RedisClient | undefined> {
  if (url === undefined) return undefined
  const redis = createRedis({ url, ...settings })
  // Whether it succeeds shows in the first command.
  await redis.connect().catch(() => {})
  return redis
}
