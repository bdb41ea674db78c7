import { modeFacts } from '../../config/mode.ts'
import { type Config, LONGEST_TIMEOUT_SECONDS } from '../../config/schema/schema.ts'
import type { Database } from '../../stores/database/database.ts'
import { createRedis } from '../../stores/redis/redis.ts'
import { revocationStore } from '../../stores/revocations/open-revocations.ts'
import type { RevocationStore } from '../../stores/revocations/revocation-store.ts'
import type { UserRevocation } from '../../token/revocations.ts'
import { patient } from '../settings.ts'

/** Opens the list of ended tokens that the gateways follow, for a piece of work. */
export async function withRevocations<Result>(
  config: Config,
  database: Database,
  work: (store: RevocationStore) => Promise<Result>,
): Promise<Result> {
  const { url } = config.redis
  const settings = url === undefined ? undefined : patient({ ...config.redis, url })
  const redis = settings && createRedis(settings)
  try {
    await redis?.connect()
    return await work(revocationStore({ redis, redisSettings: settings ?? config.redis, database }))
  } finally {
    await redis?.close()
  }
}

/** Ends every token that these users have until now, on every gateway. */
export async function endTokensOf(
  userIds: readonly string[],
  config: Config,
  database: Database,
): Promise<void> {
  const marks = userIds.map((userId) => endingNow(userId, config))
  await withRevocations(config, database, (store) => store.append(marks, 'now'))
}

/**
 * The mark outlives every token there can be, also one that was issued when `jwt.timeout` was
 * longer than it is now. There is at most one for each user.
 */
function endingNow(userId: string, { application, jwt }: Config): UserRevocation {
  const { tokenLifetimeSeconds } = modeFacts(application.mode, jwt.timeout)
  const lifetimeMs = Math.max(tokenLifetimeSeconds, LONGEST_TIMEOUT_SECONDS) * 1000
  return { kind: 'user', userId, before: Date.now(), until: Date.now() + lifetimeMs }
}
