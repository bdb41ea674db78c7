import type { Figures, Reading } from './registry.ts'
import { addReloadMetrics, type Reloads } from './reload-metrics.ts'

/** What is known about the policies in force. */
export interface CountedPolicies {
  readonly source: string
  readonly revision: string | undefined
  readonly engine: string | undefined
  readonly rules: number | undefined
  readonly stale: boolean
  /** When this revision came into force, and when the source last confirmed it, in RFC 3339. */
  readonly since: string | undefined
  readonly confirmedAt: string | undefined
  readonly reloads: Reloads
}

/** Shows which policy is in force, since when, and how taking in new ones goes. */
export function addPolicyMetrics(figures: Figures, read: () => CountedPolicies): void {
  figures.readGauge(
    {
      name: 'postern_policy_info',
      help: 'Always 1; the labels say which policy is in force.',
      labels: ['revision', 'source', 'engine'],
      whole: 'max',
    },
    () => {
      const { revision, source, engine = 'none' } = read()
      return revision === undefined ? [] : [{ value: 1, labels: { revision, source, engine } }]
    },
  )
  figures.readGauge(
    {
      name: 'postern_policy_rules',
      help: 'How many rules the policy in force has.',
      whole: 'max',
    },
    () => known(read().rules),
  )
  addReloadMetrics(
    figures,
    {
      prefix: 'postern_policy',
      total: 'New policies that came into force (ok), and attempts that did not end well (failed).',
      success: '0 while the last attempt to read the policies failed and the last good ones stay.',
    },
    () => {
      const { reloads, stale } = read()
      return { reloads, isWell: !stale }
    },
  )
  figures.readGauge(
    {
      name: 'postern_policy_last_reload_timestamp_seconds',
      help: 'When the policy in force came into force.',
      whole: 'min',
    },
    () => known(seconds(read().since)),
  )
  figures.readGauge(
    {
      name: 'postern_policy_confirmed_timestamp_seconds',
      help: 'When the source last said that the policy in force is the newest.',
      whole: 'min',
    },
    () => known(seconds(read().confirmedAt)),
  )
}

function known(value: number | undefined): readonly Reading<never>[] {
  return value === undefined ? [] : [{ value }]
}

function seconds(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time) / 1000
}
