import { readConfig } from '../../config/load.ts'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { accountKey } from '../../login/throttle.ts'
import { createDatabaseLockouts } from '../../stores/limits/database-lockouts.ts'
import { readLockout } from '../../stores/limits/redis-counters.ts'
import { createLastingKey } from '../../token/derived-keys.ts'
import { withExistingDatabase } from '../configured-database.ts'
import { withRedis } from '../configured-redis.ts'
import type { Surroundings } from '../context.ts'
import { configuredKeys, tokenSettings } from '../tokens/configured-keys.ts'
import { redisOf } from '../tokens/revoke-tokens.ts'

/**
 * For how many seconds logins of this account are locked out, on any gateway; `undefined` when that is
 * not known, for example because without the signing key no count can be found.
 */
export async function lockoutOf(
  username: string,
  file: string | undefined,
  io: Surroundings,
): Promise<number | undefined> {
  const { config } = readConfig({ file, env: io.env, cwd: io.cwd })
  if (config === undefined) return undefined
  try {
    const settings = tokenSettings(file, io)
    const keys = await configuredKeys(settings)
    const key = accountKey(createLastingKey(() => keys, 'throttle')(), username)
    const redis = redisOf(config)
    if (redis !== undefined) {
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
