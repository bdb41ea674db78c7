import type { MetricRegistry } from './registry.ts'
import { addSnapshotMetrics, type CountedSnapshot } from './snapshot-metrics.ts'

interface CountedRevocations {
  readonly tokens: number
  readonly users: number
  readonly ageSeconds: number | undefined
  readonly stale: boolean
  readonly snapshot: CountedSnapshot | undefined
}

/** Shows the length and the age of the revocation list. */
export function addRevocationMetrics(
  registry: MetricRegistry,
  read: () => CountedRevocations,
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
