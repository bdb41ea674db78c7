import type { Report } from '../reading/report.ts'
import type { Draft } from '../schema/schema.ts'

/** Where policies come from, who signs them, and what they are asked about. */
export function checkPolicySource({ policy, redis, database }: Draft, report: Report): void {
  const url = redis?.url
  if (policy?.follow?.database === true) {
    if (database?.url === undefined && !report.hasProblem('database.url')) {
      report.problem(
        'policy.follow',
        " reads go-admin's Casbin table, so database.url is required: the URL of go-admin's database",
      )
    }
    if (policy.source === 'redis') {
      report.problem(
        'policy.follow',
        ' is only used with policy.source "files": run "postern policy follow database" to publish to Redis',
      )
    }
  }
  if (policy?.source === 'redis' && url === undefined && !report.hasProblem('redis.url')) {
    report.problem('policy.source', ' is "redis", so redis.url is required')
  }
  if (policy?.source === 'files' && policy.snapshot !== undefined) {
    report.problem('policy.snapshot', ' is only used with policy.source "redis"; remove it')
  }
  const { from, claim } = policy?.domain ?? {}
  if (from === 'claim' && claim === undefined && !report.hasProblem('policy.domain.claim')) {
    report.problem('policy.domain', '.from is "claim", so policy.domain.claim is required')
  }
  if (from === 'host' && claim !== undefined) {
    report.problem(
      'policy.domain.claim',
      ' is only used with policy.domain.from "claim"; remove it',
    )
  }
  // Ignored, it would look as if the files had to be signed.
  if (policy?.source === 'files' && policy.trust !== undefined) {
    report.problem(
      'policy.trust',
      ' is only used with policy.source "redis": files on disk have no signatures; remove it',
    )
  }
  // Without a hash tag the keys of one script are on several nodes, and every publication fails.
  const prefix = redis?.prefix
  if (url?.includes('+cluster:') && prefix !== undefined && !/^[^{]*\{[^}]+\}/.test(prefix)) {
    report.problem(
      'redis.prefix',
      ' has no hash tag, which a cluster requires: add braces, such as {postern}: (docs/stores.md#redis-cluster)',
    )
  }
}
