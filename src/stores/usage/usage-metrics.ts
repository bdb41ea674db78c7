import type { MetricRegistry } from '../../metrics/registry.ts'

/** Shows whether policy usage is stored, and whether all of it is counted by rule. */
export function addUsageMetrics(
  registry: MetricRegistry,
  read: () => { readonly failures: number; readonly uncounted: number },
): void {
  registry.readCounter({
    name: 'postern_policy_usage_write_failures_total',
    help: 'Failed writes of policy usage; they are retried.',
    read: () => read().failures,
  })
  registry.readCounter({
    name: 'postern_policy_usage_uncounted_total',
    help: 'Decisions, roles and refusals counted only as a number, because a limit was reached.',
    read: () => read().uncounted,
  })
}
