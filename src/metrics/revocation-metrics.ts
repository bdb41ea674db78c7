import type { Figures } from './registry.ts'
import { addSnapshotMetrics, type CountedSnapshot } from './snapshot-metrics.ts'

/** What is known about the list of ended tokens. */
interface CountedRevocations {
  readonly tokens: number
  readonly users: number
  readonly ageSeconds: number | undefined
  readonly stale: boolean
  readonly snapshot: CountedSnapshot | undefined
}

/** Shows how long the list of ended tokens is, and how old. */
export function addRevocationMetrics(figures: Figures, read: () => CountedRevocations): void {
  figures.readGauge(
    {
      name: 'postern_revocations',
      help: 'Revoked tokens, and users whose tokens were all revoked.',
      labels: ['kind'],
      whole: 'max',
    },
    () => {
      const { tokens, users } = read()
      return [
        { value: tokens, labels: { kind: 'token' } },
        { value: users, labels: { kind: 'user' } },
      ]
    },
  )
  figures.readGauge(
    {
      name: 'postern_revocations_age_seconds',
      help: 'Time since the store last confirmed the revocation list; absent until the first time.',
      whole: 'max',
    },
    () => {
      const { ageSeconds: value } = read()
      return value === undefined ? [] : [{ value }]
    },
  )
  figures.readGauge(
    {
      name: 'postern_revocations_stale',
      help: '1 while the revocation list is older than revocation.maxAgeMs.',
      whole: 'max',
    },
    () => [{ value: read().stale ? 1 : 0 }],
  )
  addSnapshotMetrics(
    figures,
    {
      prefix: 'postern_revocations',
      current: '1 while revocation.snapshot is up to date, 0 while it cannot be written.',
      failures: 'Failed writes of revocation.snapshot.',
    },
    () => read().snapshot,
  )
}
