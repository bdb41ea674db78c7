import type { MetricRegistry } from './registry.ts'

export function addModeInfo(
  registry: MetricRegistry,
  { mode, version }: { readonly mode: string; readonly version: string },
): void {
  registry.readGauge({
    name: 'postern_mode_info',
    help: 'Always 1; the labels give application mode and version.',
    labels: ['mode', 'version'],
    aggregate: 'max',
    read: () => [[1, mode, version]],
  })
}

export function addLogMetrics(registry: MetricRegistry, dropped: () => number): void {
  registry.readCounter({
    name: 'postern_log_dropped_total',
    help: 'Log lines dropped because the output could not keep up.',
    read: () => dropped(),
  })
}

/** Whether requests are shed now; `postern_requests_total` counts those that were. */
export function addOverloadMetrics(registry: MetricRegistry, ratio: () => number): void {
  registry.readGauge({
    name: 'postern_shed_ratio',
    help: 'Fraction of new requests shed because of event-loop delay, from 0 to 0.9.',
    aggregate: 'max',
    read: () => ratio(),
  })
}
