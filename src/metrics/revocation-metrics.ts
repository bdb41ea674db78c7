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
      help: 'Single tokens that ended early, and users all of whose tokens of a time did.',
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
      help: 'How long ago the store last confirmed the list; absent while it never did.',
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
      help: '1 while the list is older than revocation.maxAgeMs.',
      whole: 'max',
    },
    () => [{ value: read().stale ? 1 : 0 }],
  )
  addSnapshotMetrics(
    figures,
    {
      prefix: 'postern_revocations',
      current:
        '1 while revocation.snapshot holds the list of this gateway, 0 while it cannot be written.',
      failures: 'Writes of revocation.snapshot that failed.',
    },
    () => read().snapshot,
  )
}
