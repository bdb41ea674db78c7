import { readConfig } from '../../config/load.ts'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { accountKey } from '../../login/throttle.ts'
import { withExistingDatabase } from '../../operations/configured-database.ts'
import { withRedis } from '../../operations/configured-redis.ts'
import { withInteractiveTimeouts } from '../../operations/policy-settings.ts'
import { configuredKeys, tokenSettings } from '../../operations/tokens/configured-keys.ts'
import { createDatabaseLockouts } from '../../stores/limits/database-lockouts.ts'
import { readLockout } from '../../stores/limits/redis-counters.ts'
import { createLastingKey } from '../../token/derived-keys.ts'
import type { Io } from '../io.ts'

/**
 * For how many seconds logins of this account are locked out, on any gateway; `undefined` when that is
 * not known, for example because without the signing key no count can be found.
 */
export async function lockoutOf(
  username: string,
  file: string | undefined,
  io: Io,
): Promise<number | undefined> {
  const { config } = readConfig({ file, env: io.env, cwd: io.cwd })
  if (config === undefined) return undefined
  try {
    const settings = tokenSettings(file, io)
    const keys = await configuredKeys(settings)
    const key = accountKey(createLastingKey(() => keys, 'throttle')(), username)
    const { url } = config.redis
    if (url !== undefined) {
      const redis = withInteractiveTimeouts({ ...config.redis, url })
      const { longestWaitSeconds } = config.login
      return await withRedis(redis, settings.shared, (client) =>
        readLockout(client, key, longestWaitSeconds),
      )
    }
    return await withExistingDatabase(settings, (database) =>
      createDatabaseLockouts(database).secondsLeft(key),
    )
  } catch (error) {
    if (error instanceof Fault || error instanceof Invalid) return undefined
    throw error
  }
}
