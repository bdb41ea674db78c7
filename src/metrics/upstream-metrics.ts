import type { Figures } from './registry.ts'

/** What is known about the targets of an upstream. */
interface CountedUpstream {
  readonly name: string
  readonly targets: () => readonly CountedTarget[]
  readonly lookupFailures: () => number
}

interface CountedTarget {
  readonly name: string
  readonly breaker: { readonly state: () => 'closed' | 'open' | 'half-open' }
  readonly isHealthy: () => boolean
  readonly outstanding: () => number
  readonly connections: () => number
}

/** Shows of every target whether it is used, and how much it has to do. */
export function addUpstreamMetrics(figures: Figures, upstreams: readonly CountedUpstream[]): void {
  const each = (read: (target: CountedTarget) => number) => () =>
    upstreams.flatMap(({ name: upstream, targets }) =>
      targets().map((target) => ({
        value: read(target),
        labels: { upstream, target: target.name },
      })),
    )
  const labels = ['upstream', 'target'] as const

  figures.readCounter(
    {
      name: 'postern_upstream_dns_failures_total',
      help: 'Failed DNS lookups of target names.',
      labels: ['upstream'],
    },
    () =>
      upstreams.map(({ name: upstream, lookupFailures }) => ({
        value: lookupFailures(),
        labels: { upstream },
      })),
  )

  figures.readGauge(
    {
      name: 'postern_upstream_up',
      help: '0 while the health check of the target fails.',
      labels,
      whole: 'min',
    },
    each(({ isHealthy }) => (isHealthy() ? 1 : 0)),
  )
  figures.readGauge(
    {
      name: 'postern_circuit_state',
      help: 'Circuit breaker of the target: 0 closed, 1 half-open, 2 open.',
      labels,
      whole: 'max',
    },
    each(({ breaker }) => states[breaker.state()]),
  )
  figures.readGauge(
    {
      name: 'postern_upstream_outstanding',
      help: 'Requests in flight to the target.',
      labels,
      whole: 'sum',
    },
    each(({ outstanding }) => outstanding()),
  )
  figures.readGauge(
    {
      name: 'postern_upstream_connections',
      help: 'Open connections to the target, with idle connections and tunnels.',
      labels,
      whole: 'sum',
    },
    each(({ connections }) => connections()),
  )
}

const states = { closed: 0, 'half-open': 1, open: 2 } as const
