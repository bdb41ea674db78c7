import { modeFacts } from '../../config/mode.ts'
import { type Config, LONGEST_TIMEOUT_SECONDS } from '../../config/schema/schema.ts'
import type { Database } from '../../stores/database/database.ts'
import { createRedis } from '../../stores/redis/redis.ts'
import { revocationStore } from '../../stores/revocations/open-revocations.ts'
import type { RevocationStore } from '../../stores/revocations/revocation-store.ts'
import type { UserRevocation } from '../../token/revocations.ts'
import { withInteractiveTimeouts } from '../settings.ts'

/** Opens the list of revoked tokens that the gateways follow, runs `work` and closes it. */
export async function withRevocations<Result>(
  config: Config,
  database: Database,
  work: (store: RevocationStore) => Promise<Result>,
): Promise<Result> {
  const { url } = config.redis
  const settings = url === undefined ? undefined : withInteractiveTimeouts({ ...config.redis, url })
  const redis = settings && createRedis(settings)
  try {
    await redis?.connect()
    return await work(revocationStore({ redis, redisSettings: settings ?? config.redis, database }))
  } finally {
    await redis?.close()
  }
}

/** Revokes every token that these users have now, on every gateway. */
export async function revokeTokensOf(
  userIds: readonly string[],
  config: Config,
  database: Database,
): Promise<void> {
  const entries = userIds.map((userId) => revokedNow(userId, config))
  await withRevocations(config, database, (store) => store.append(entries, 'now'))
}

/**
 * The entry outlives every possible token, also one issued when `jwt.timeout` was longer than now. Each
 * user has at most one.
 */
function revokedNow(userId: string, { application, jwt }: Config): UserRevocation {
  const { tokenLifetimeSeconds } = modeFacts(application.mode, jwt.timeout)
  const lifetimeMs = Math.max(tokenLifetimeSeconds, LONGEST_TIMEOUT_SECONDS) * 1000
  return { kind: 'user', userId, before: Date.now(), until: Date.now() + lifetimeMs }
}
