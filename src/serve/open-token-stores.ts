import { dirname, join } from 'node:path'
import type { Database } from '../stores/database/database.ts'
import type { RedisClient } from '../stores/redis/redis.ts'
import { openRevocations } from '../stores/revocations/open-revocations.ts'
import type { RevocationFeed } from '../stores/revocations/revocation-feed.ts'
import type { SnapshotLocation } from '../stores/revocations/revocation-files.ts'
import { addRevocationMetrics } from '../stores/revocations/revocation-metrics.ts'
import type { Revocations } from '../token/revocations.ts'
import type { Assembly } from './assembly.ts'
import { clock, type ServeOptions } from './options.ts'

/** Keeps the revocation list of this gateway in step with the store that replicas share. */
export async function openRevocationFeed(
  options: ServeOptions,
  stores: {
    redis: RedisClient | undefined
    database: Database
    revocations: Revocations
  },
  assembly: Assembly,
): Promise<RevocationFeed> {
  const { config, log, now = clock } = options
  const feed = await openRevocations({
    ...stores,
    redisSettings: config.redis,
    ...config.revocation,
    snapshot: snapshotLocation(options),
    log,
    now: () => now() * 1000,
  })
  assembly.add({
    metrics: (registry) => addRevocationMetrics(registry, feed.state),
    details: {
      // `unsaid` is the name of pendingWrites in 0.1.
      revocation: () => ({ ...feed.state(), unsaid: feed.state().pendingWrites }),
    },
    close: feed.close,
  })
  return feed
}

/** On by default: without it, a gateway that restarts while Redis is unreachable accepts revoked tokens. */
function snapshotLocation({
  config: { application, policy, revocation },
  asWorker,
}: ServeOptions): SnapshotLocation {
  const directory =
    policy.snapshot === undefined ? application.dataDirectory : dirname(policy.snapshot)
  const file = revocation.snapshot ?? join(directory, 'revocations.snapshot')
  return { file, worker: asWorker?.number }
}
