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

/** Redis where it is configured, because replicas share it; else the accounts' database. */
export function revocationStore(places: RevocationStores): RevocationStore {
  const { redis, redisSettings, database } = places
  const { url } = redisSettings
  if (redis === undefined || url === undefined) return createDatabaseRevocations(database)
  return createRedisRevocations(redis, { ...redisSettings, url })
}

/**
 * Reads the list and goes on following it. A store that is away is waited for in the background.
 * What ended while there was no Redis is taken along from the database, once. A list that lives on
 * another machine is kept in a file as well, to start with while that cannot be reached.
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
  const keep = isLocal ? undefined : createRevocationSnapshot({ ...parts, ...parts.snapshot })
  const feed = createRevocationFeed({ ...parts, store, keep })
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
      page = page.more ? await before.read(page.place) : undefined
    }
  } catch {
    // A database that is away is no reason not to start; whoever changes over restarts again.
  }
}
