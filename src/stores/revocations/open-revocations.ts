import type { Revocations } from '../../token/revocations.ts'
import type { Database } from '../database/database.ts'
import type { RedisClient, RedisSettings } from '../redis/redis.ts'
import { createDatabaseRevocations } from './database-revocations.ts'
import { createRedisRevocations } from './redis-revocations.ts'
import {
  createRevocationFeed,
  type RevocationFeed,
  type RevocationFeedParts,
  type RevocationSettings,
} from './revocation-feed.ts'
import type { SnapshotLocation } from './revocation-files.ts'
import { createRevocationSnapshot } from './revocation-snapshot.ts'
import type { RevocationStore } from './revocation-store.ts'

interface RevocationStores {
  /** The client for commands, when Redis is configured. */
  readonly redis: RedisClient | undefined
  readonly redisSettings: Omit<RedisSettings, 'url'> & { readonly url?: string }
  readonly database: Database
}

/** Redis where it is configured, because replicas share it; otherwise the accounts' database. */
function revocationStore(stores: RevocationStores): RevocationStore {
  const { redis, redisSettings, database } = stores
  const { url } = redisSettings
  if (redis === undefined || url === undefined) return createDatabaseRevocations(database)
  return createRedisRevocations(redis, { ...redisSettings, url })
}

/**
 * Reads the revocation list and follows it; an unreachable store is retried in the background.
 * Revocations made before Redis was configured are imported from the database. A list on another
 * machine is also kept in a file, to start from while that machine is unreachable.
 */
export async function openRevocations(
  parts: RevocationStores &
    RevocationSettings &
    Pick<RevocationFeedParts, 'log' | 'now'> & {
      readonly revocations: Revocations
      readonly snapshot: SnapshotLocation
    },
): Promise<RevocationFeed> {
  const store = revocationStore(parts)
  if (store.name === 'redis') await importFromDatabase(parts)
  const isLocal = store.name === 'database' && parts.database.kind === 'embedded'
  const snapshot = isLocal ? undefined : createRevocationSnapshot({ ...parts, ...parts.snapshot })
  const feed = createRevocationFeed({ ...parts, store, snapshot })
  await feed.start()
  return feed
}

async function importFromDatabase({
  database,
  revocations,
}: Pick<RevocationStores, 'database'> & { readonly revocations: Revocations }): Promise<void> {
  const before = createDatabaseRevocations(database)
  try {
    for (let page = await before.read(undefined); page !== undefined; ) {
      for (const revocation of page.revocations) revocations.add(revocation)
      page = page.more ? await before.read(page.position) : undefined
    }
  } catch {
    // An unreachable database must not keep the gateway from starting. The next start tries again.
  }
}
