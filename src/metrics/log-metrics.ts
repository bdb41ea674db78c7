import type { MetricRegistry } from './registry.ts'

export function addLogMetrics(registry: MetricRegistry, dropped: () => number): void {
  registry.readCounter(
    {
      name: 'postern_log_dropped_total',
      help: 'Log lines dropped because the output could not keep up.',
    },
    () => [{ value: dropped() }],
  )
}
