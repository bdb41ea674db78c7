import type { LastError, Target } from './target.ts'
import type { Upstream } from './upstream.ts'

/** The state of one upstream, for the ops port. */
export interface UpstreamReport {
  readonly name: string
  readonly balance: string
  readonly targets: readonly TargetReport[]
}

export interface TargetReport {
  /** Scheme, host and port, and the address if the name has several. */
  readonly target: string
  /** The target's part of the requests, in relation to the other targets. */
  readonly weight: number
  /** The share of its weight that it has now, in percent: less than 100 while it warms up. */
  readonly sharePercent: number
  readonly circuit: 'closed' | 'half-open' | 'open'
  /** The result of the active health check; `true` without one. */
  readonly healthy: boolean
  /** How long outlier detection still ejects it; 0: it does not. */
  readonly ejectedMs: number
  /** All ejections so far. */
  readonly ejections: number
  /** Requests in the last complete interval of `outlier.errorShare`; 0 where it is off. */
  readonly recentRequests: number
  /** How many of them failed. */
  readonly recentFailures: number
  /** Requests and tunnels in progress. */
  readonly outstanding: number
  readonly tunnels: number
  /** Open connections, idle ones and tunnels included. */
  readonly connections: number
  readonly lastError: LastError | null
}

export function reportUpstreams(upstreams: readonly Upstream[]): readonly UpstreamReport[] {
  return upstreams.map(({ name, settings, targets }) => ({
    name,
    balance: settings.balance,
    targets: targets().map(reportTarget),
  }))
}

function reportTarget(target: Target): TargetReport {
  const recent = target.outlier.recent()
  return {
    target: target.name,
    weight: target.weight,
    sharePercent: Math.round(target.share() * 100),
    circuit: target.breaker.state(),
    healthy: target.isHealthy(),
    ejectedMs: Math.round(target.outlier.remainingMs()),
    ejections: Object.values(target.outlier.ejections()).reduce((sum, one) => sum + one, 0),
    recentRequests: recent.requests,
    recentFailures: recent.failures,
    outstanding: target.outstanding(),
    tunnels: target.tunnels(),
    connections: target.connections(),
    lastError: target.lastError() ?? null,
  }
}
