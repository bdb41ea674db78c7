import { type MetricRegistry, secondsOf } from '../../../metrics/registry.ts'
import { addReloadMetrics } from '../../../metrics/reload-metrics.ts'
import type { FollowState } from './follower.ts'

/** Shows whether the policy follows go-admin's table. */
export function addFollowMetrics(registry: MetricRegistry, read: () => FollowState): void {
  addReloadMetrics(
    registry,
    {
      prefix: 'postern_policy_follow',
      total: "Changes of go-admin's Casbin table: ok if published, failed if not.",
      success: "0 while go-admin's Casbin table cannot be followed and the last good policy stays.",
    },
    () => ({ reloads: read().reloads, lastError: read().stopped }),
  )
  registry.readGauge({
    name: 'postern_policy_follow_checked_timestamp_seconds',
    help: "When go-admin's Casbin table was last compared with the policy.",
    aggregate: 'max',
    read: () => secondsOf(read().checkedAt),
  })
}
