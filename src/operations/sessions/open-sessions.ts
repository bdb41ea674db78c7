import { createDatabaseRevocations } from '../../stores/revocations/database-revocations.ts'
import { createRedisRevocations } from '../../stores/revocations/redis-revocations.ts'
import type { RevocationStore } from '../../stores/revocations/revocation-store.ts'
import { createDatabaseSessions } from '../../stores/sessions/database-sessions.ts'
import { createRedisSessions } from '../../stores/sessions/redis-sessions.ts'
import type { SessionStore } from '../../stores/sessions/session-store.ts'
import { createRevocations, type Revocations } from '../../token/revocations.ts'
import type { AccountSettings, withDatabase } from '../configured-database.ts'
import { withRedis } from '../configured-redis.ts'
import { addRevocations, redisOf } from '../tokens/revoke-tokens.ts'

/** Where gateways record sessions and revocations. */
interface OpenSessions {
  readonly sessions: SessionStore
  readonly store: RevocationStore
  /** What `store` had when it was opened. */
  readonly revocations: Revocations
}

/** Opens what gateways use: Redis where it is configured, otherwise the accounts' database. */
export async function withSessions<Result>(
  settings: AccountSettings,
  open: typeof withDatabase,
  work: (opened: OpenSessions) => Promise<Result>,
): Promise<Result> {
  const opened = async (sessions: SessionStore, store: RevocationStore) => {
    const revocations = createRevocations(Date.now)
    await addRevocations(revocations, store)
    return work({ sessions, store, revocations })
  }
  const redis = redisOf(settings.config)
  if (redis === undefined) {
    return open(settings, (database) =>
      opened(createDatabaseSessions(database), createDatabaseRevocations(database)),
    )
  }
  return withRedis(redis, settings.shared, (client) =>
    opened(createRedisSessions(client), createRedisRevocations(client, redis)),
  )
}
