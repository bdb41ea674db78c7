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
  readonly circuit: 'closed' | 'half-open' | 'open'
  /** The result of the active health check; `true` without one. */
  readonly healthy: boolean
  /** Requests and tunnels in progress. */
  readonly outstanding: number
  readonly tunnels: number
  /** Open connections, idle ones and tunnels included. */
  readonly connections: number
  readonly lastError: LastError | null
}

export function reportUpstreams(upstreams: readonly Upstream[]): readonly UpstreamReport[] {
  return upstreams.map(({ name, balance, targets }) => ({
    name,
    balance,
    targets: targets().map(reportTarget),
  }))
}

function reportTarget(target: Target): TargetReport {
  return {
    target: target.name,
    circuit: target.breaker.state(),
    healthy: target.isHealthy(),
    outstanding: target.outstanding(),
    tunnels: target.tunnels(),
    connections: target.connections(),
    lastError: target.lastError() ?? null,
  }
}
