import type { MetricRegistry } from './registry.ts'

/** Whether requests are shed now; `postern_requests_total` counts those that were. */
export function addOverloadMetrics(registry: MetricRegistry, share: () => number): void {
  registry.readGauge(
    {
      name: 'postern_shed_ratio',
      aggregate: 'max',
      help: 'Fraction of new requests shed because of event-loop delay, from 0 to 0.9.',
    },
    () => [{ value: share() }],
  )
}
