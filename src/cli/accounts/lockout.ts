import { readConfig } from '../../config/load.ts'
import { Fault, Invalid } from '../../errors.ts'
import { accountKey } from '../../login/throttle.ts'
import { readLockout } from '../../stores/limits/redis-counters.ts'
import { createRedis } from '../../stores/redis/redis.ts'
import { createLastingKey } from '../../token/derived-keys.ts'
import type { Io } from '../io.ts'
import { withInteractiveTimeouts } from '../settings.ts'
import { configuredKeys, tokenSettings } from './token-command.ts'

/**
 * For how many seconds logins of this account are locked out; `undefined` when that is not known:
 * without Redis each gateway counts for itself, and without the signing key no count can be found.
 */
export async function lockoutOf(
  username: string,
  file: string | undefined,
  io: Io,
): Promise<number | undefined> {
  const { config } = readConfig({ file, env: io.env, cwd: io.cwd })
  const { url } = config?.redis ?? {}
  if (config === undefined || url === undefined) return undefined
  const redis = createRedis(withInteractiveTimeouts({ ...config.redis, url }))
  try {
    const keys = await configuredKeys(tokenSettings(file, io))
    const key = accountKey(createLastingKey(() => keys, 'throttle')(), username)
    await redis.connect()
    return await readLockout(redis, key, config.login.longestWaitSeconds)
  } catch (error) {
    if (error instanceof Fault || error instanceof Invalid) return undefined
    throw error
  } finally {
    await redis.close()
  }
}
