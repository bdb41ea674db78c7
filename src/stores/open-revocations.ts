import type { Revocations } from '../token/revocations.ts'
import type { Database } from './database.ts'
import { createDatabaseRevocations } from './database-revocations.ts'
import type { RedisClient, RedisSettings } from './redis.ts'
import { createRedisRevocations } from './redis-revocations.ts'
import {
  createRevocationFeed,
  type RevocationFeed,
  type RevocationFeedParts,
  type RevocationSettings,
} from './revocation-feed.ts'
import type { RevocationStore } from './revocation-store.ts'

export interface RevocationPlaces {
  /** The client for commands, when Redis is configured. */
  readonly redis: RedisClient | undefined
  readonly redisSettings: Omit<RedisSettings, 'url'> & { readonly url?: string }
  readonly database: Database
}

/** Redis where it is configured, because replicas share it; else the accounts' database. */
export function revocationStore(places: RevocationPlaces): RevocationStore {
  const { redis, redisSettings, database } = places
  const { url } = redisSettings
  if (redis === undefined || url === undefined) return createDatabaseRevocations(database)
  return createRedisRevocations(redis, { ...redisSettings, url })
}

/** Reads the list and goes on following it. A store that is away is waited for in the background. */
export async function openRevocations(
  parts: RevocationPlaces &
    RevocationSettings &
    Pick<RevocationFeedParts, 'log' | 'now'> & { readonly revocations: Revocations },
): Promise<RevocationFeed> {
  const feed = createRevocationFeed({ ...parts, store: revocationStore(parts) })
  await feed.start()
  return feed
}
