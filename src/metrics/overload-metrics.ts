import type { Figures } from './registry.ts'

/** Whether new requests are refused; how many were is in `postern_requests_total`. */
export function addOverloadMetrics(figures: Figures, share: () => number): void {
  figures.readGauge(
    {
      name: 'postern_shed_ratio',
      whole: 'max',
      help: 'Fraction of new requests shed because of event-loop delay, from 0 to 0.9.',
    },
    () => [{ value: share() }],
  )
}
