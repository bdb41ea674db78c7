import type { ModeFacts } from '../../config/mode.ts'
import type { ClockFacts } from '../../fleet/clock-offset.ts'
import type { ReplicaFacts } from '../../fleet/replica-facts.ts'
import type { ShadowComparison } from '../../gateway/shadow/shadow-comparison.ts'
import { reportUpstreams } from '../../gateway/upstream/report.ts'
import type { Upstream } from '../../gateway/upstream/upstreams.ts'
import { createReadiness, shutdownProblems } from '../../http/readiness.ts'
import { version } from '../../kernel/version.ts'
import type { LoginLog } from '../../login/login-log.ts'
import { addConfigMetrics } from '../../metrics/config-metrics.ts'
import { addLogMetrics, addModeInfo, addOverloadMetrics } from '../../metrics/gateway-metrics.ts'
import { addIssuerMetrics, addKeyMetrics } from '../../metrics/key-metrics.ts'
import { addLoginLogMetrics } from '../../metrics/login-log-metrics.ts'
import { addPolicyMetrics } from '../../metrics/policy-metrics.ts'
import type { MetricRegistry } from '../../metrics/registry.ts'
import { addRevocationMetrics } from '../../metrics/revocation-metrics.ts'
import { addShadowMetrics } from '../../metrics/shadow-metrics.ts'
import type { OpenKeys } from '../../stores/keys/key-feed.ts'
import type { FollowState } from '../../stores/policies/follow/follower.ts'
import type { OpenPolicySource } from '../../stores/policies/open-policy-source.ts'
import type { RevocationFeed } from '../../stores/revocations/revocation-feed.ts'
import type { OpenIssuers } from '../../token/issuers/open-issuers.ts'
import { publicJwks } from '../../token/key-set.ts'
import type { GatewayOps } from '../../workers/worker.ts'
import type { ServeOptions } from '../options.ts'
import type { openTls } from './build-ports.ts'
import { createOwnFacts } from './own-facts.ts'

interface ObservedParts {
  readonly registry: MetricRegistry
  readonly policies: OpenPolicySource
  /** With `policy.follow` only. */
  readonly following: (() => FollowState) | undefined
  readonly shadow: ShadowComparison | undefined
  readonly clock: () => ClockFacts | undefined
  readonly keys: OpenKeys
  readonly issuers: OpenIssuers
  readonly assertionProblem: () => string | undefined
  readonly revocations: RevocationFeed
  readonly loginLog: LoginLog
  readonly loginDetails: Readonly<Record<string, () => unknown>>
  readonly tls: Awaited<ReturnType<typeof openTls>>
  readonly upstreams: () => readonly Upstream[]
  readonly isDraining: () => boolean
  readonly shedRatio: () => number
}

/** What the ops port shows: readiness, metrics and public keys. */
export function buildOps(
  { config, log, configuration, asWorker }: ServeOptions,
  mode: ModeFacts,
  parts: ObservedParts,
): GatewayOps & { readonly facts: () => ReplicaFacts } {
  const { registry, policies, keys, issuers, revocations, loginLog, tls } = parts
  addPolicyMetrics(registry, policies.state)
  const { shadow } = parts
  if (shadow !== undefined) {
    addShadowMetrics(
      registry,
      () => policies.state().shadow,
      () => shadow.totals(),
    )
  }
  if (configuration !== undefined) addConfigMetrics(registry, configuration)
  addModeInfo(registry, { mode: mode.name, version })
  addLogMetrics(registry, log.dropped)
  addOverloadMetrics(registry, parts.shedRatio)
  addRevocationMetrics(registry, revocations.state)
  if (config.logger.enableddb) addLoginLogMetrics(registry, loginLog.state)
  addKeyMetrics(registry, keys.state)
  if (config.issuers.length > 0) addIssuerMetrics(registry, issuers.states)
  const readiness = createReadiness({
    revision: policies.revision,
    checks: [
      { name: 'policy', problem: policies.problem },
      { name: 'assertion', problem: parts.assertionProblem },
      ...shutdownProblems.map(({ name, problem }) => ({
        name,
        problem: () => (parts.isDraining() ? problem : undefined),
      })),
    ],
    details: {
      ...(configuration !== undefined && { configuration }),
      policy: policies.state,
      ...(parts.following !== undefined && { policyFollow: parts.following }),
      clock: () => parts.clock() ?? null,
      keys: keys.state,
      serviceTokens: () => config.tokens.service,
      ...(config.issuers.length > 0 && { issuers: issuers.states }),
      ...parts.loginDetails,
      // `unsaid` is its name in 0.1.
      revocation: () => {
        const state = revocations.state()
        return { ...state, unsaid: state.pendingWrites }
      },
      loginLog: loginLog.state,
      ...(tls !== undefined && { tls: tls.state }),
    },
  })
  const upstreams = () => reportUpstreams(parts.upstreams())
  const facts = createOwnFacts({
    mode: mode.name,
    worker: asWorker?.number,
    isReady: () => readiness(false).ready,
    configuration,
    clock: parts.clock,
    keys: keys.state,
    certificate: tls?.state,
    upstreams,
    outcomes: () => registry.samples('postern_outcomes_total'),
  })
  return {
    version,
    mode: mode.name,
    readiness,
    facts,
    replicas() {
      const { stale, lastError } = policies.state()
      const revision = policies.revision() ?? null
      return [{ revision, version, stale, ...(lastError && { lastError }), facts: facts() }]
    },
    metrics: registry,
    upstreams,
    publicKeys: () => publicJwks(keys.current()),
  }
}
