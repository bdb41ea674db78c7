import { type MetricRegistry, secondsOf } from '../../metrics/registry.ts'
import { addReloadMetrics } from '../../metrics/reload-metrics.ts'
import { addSnapshotMetrics } from '../../metrics/snapshot-metrics.ts'
import type { OpenPolicySource } from './open-policy-source.ts'

/** Shows the active policy, since when it is active, and how reloads go. */
export function addPolicyMetrics(registry: MetricRegistry, read: OpenPolicySource['state']): void {
  registry.readGauge({
    name: 'postern_policy_info',
    help: 'Always 1; the labels identify the active policy.',
    labels: ['revision', 'source', 'engine'],
    aggregate: 'max',
    read: () => {
      const { revision, source, engine = 'none' } = read()
      return revision === undefined ? [] : [[1, revision, source, engine]]
    },
  })
  registry.readGauge({
    name: 'postern_policy_rules',
    help: 'Rules in the active policy.',
    aggregate: 'max',
    read: () => read().rules,
  })
  addReloadMetrics(
    registry,
    {
      prefix: 'postern_policy',
      total: 'Policy reloads: ok if the new policy became active, failed if not.',
      success: '0 while the last reload failed and the last good policy stays active.',
    },
    read,
  )
  registry.readCounter({
    name: 'postern_policy_rejected_total',
    help: 'Attempts to load a policy that policy.trust rejected, by reason.',
    labels: ['reason'],
    read: () =>
      Object.entries(read().trust?.rejected ?? {}).map(([reason, count]) => [count, reason]),
  })
  addSnapshotMetrics(
    registry,
    {
      prefix: 'postern_policy',
      current: '1 while policy.snapshot holds the active revision, 0 while it does not.',
      failures: 'Failed writes of policy.snapshot.',
    },
    () => read().snapshot,
  )
  registry.readGauge({
    name: 'postern_policy_last_reload_timestamp_seconds',
    help: 'When the active policy became active.',
    aggregate: 'min',
    read: () => secondsOf(read().since),
  })
  registry.readGauge({
    name: 'postern_policy_confirmed_timestamp_seconds',
    help: 'When the source last confirmed that the active policy is the newest.',
    aggregate: 'min',
    read: () => secondsOf(read().confirmedAt),
  })
}

/** From an immediate message to several polls of a failing Redis. */
const propagationBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** Returns the function that observes the propagation time of one policy. */
export function addPropagationMetric(registry: MetricRegistry): (seconds: number) => void {
  return registry.duration({
    name: 'postern_policy_propagation_seconds',
    help: 'Time from publication (clock of Redis) to activation (clock of this gateway); 0 if that is negative.',
    buckets: propagationBuckets,
  })
}
