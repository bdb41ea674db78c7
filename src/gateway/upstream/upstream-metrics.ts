import type { Sample } from '../../metrics/counts.ts'
import type { MetricRegistry } from '../../metrics/registry.ts'
import type { Target } from './target.ts'
import type { Upstream } from './upstream.ts'

/** Shows state and load of every target. */
export function addUpstreamMetrics(
  registry: MetricRegistry,
  upstreams: () => readonly Upstream[],
): void {
  const each = (read: (target: Target) => number) => () =>
    upstreams().flatMap(({ name: upstream, targets }) =>
      targets().map((target): Sample => [read(target), upstream, target.name]),
    )
  const labels = ['upstream', 'target'] as const

  registry.readCounter({
    name: 'postern_upstream_dns_failures_total',
    help: 'Failed DNS lookups of target names.',
    labels: ['upstream'],
    read: () => upstreams().map(({ name, lookupFailures }) => [lookupFailures(), name]),
  })
  registry.readGauge({
    name: 'postern_upstream_up',
    help: '0 while the health check of the target fails.',
    labels,
    aggregate: 'min',
    read: each(({ isHealthy }) => (isHealthy() ? 1 : 0)),
  })
  registry.readGauge({
    name: 'postern_circuit_state',
    help: 'Circuit breaker of the target: 0 closed, 2 open.',
    labels,
    aggregate: 'max',
    read: each(({ breaker }) => states[breaker.state()]),
  })
  registry.readGauge({
    name: 'postern_upstream_ejected',
    help: '1 while outlier detection ejects the target.',
    labels,
    aggregate: 'max',
    read: each(({ outlier }) => (outlier.isEjected() ? 1 : 0)),
  })
  registry.readCounter({
    name: 'postern_upstream_ejections_total',
    help: 'Ejections of the target by outlier detection.',
    labels: ['upstream', 'target', 'reason'],
    read: () =>
      upstreams().flatMap(({ name: upstream, targets }) =>
        targets().flatMap(({ name: target, outlier }) =>
          Object.entries(outlier.ejections()).map(
            ([reason, count]): Sample => [count, upstream, target, reason],
          ),
        ),
      ),
  })
  registry.readGauge({
    name: 'postern_upstream_outstanding',
    help: 'Requests in flight to the target.',
    labels,
    aggregate: 'sum',
    read: each(({ outstanding }) => outstanding()),
  })
  registry.readGauge({
    name: 'postern_upstream_connections',
    help: 'Open connections to the target, with idle connections and tunnels.',
    labels,
    aggregate: 'sum',
    read: each(({ connections }) => connections()),
  })
}

/** 1 was half-open, and alerts of 0.1 compare with 2. */
const states = { closed: 0, open: 2 } as const
