import type { MetricRegistry } from '../../metrics/registry.ts'
import { addSnapshotMetrics } from '../../metrics/snapshot-metrics.ts'
import type { RevocationFeed } from './revocation-feed.ts'

/** Shows the length and the age of the revocation list. */
export function addRevocationMetrics(
  registry: MetricRegistry,
  read: RevocationFeed['state'],
): void {
  registry.readGauge({
    name: 'postern_revocations',
    help: 'Revoked tokens, and users whose tokens were all revoked.',
    labels: ['kind'],
    aggregate: 'max',
    read: () => {
      const { tokens, users } = read()
      return [
        [tokens, 'token'],
        [users, 'user'],
      ]
    },
  })
  registry.readGauge({
    name: 'postern_revocations_age_seconds',
    help: 'Time since the store last confirmed the revocation list; absent until the first time.',
    aggregate: 'max',
    read: () => read().ageSeconds,
  })
  registry.readGauge({
    name: 'postern_revocations_stale',
    help: '1 while the revocation list is older than revocation.maxAgeMs.',
    aggregate: 'max',
    read: () => (read().stale ? 1 : 0),
  })
  addSnapshotMetrics(
    registry,
    {
      prefix: 'postern_revocations',
      current: '1 while revocation.snapshot is up to date, 0 while it cannot be written.',
      failures: 'Failed writes of revocation.snapshot.',
    },
    () => read().snapshot,
  )
}
