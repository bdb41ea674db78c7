import type { Figures } from './registry.ts'

/** What of the log did not get to its reader. */
export function addLogMetrics(figures: Figures, dropped: () => number): void {
  figures.readCounter(
    {
      name: 'postern_log_dropped_total',
      help: 'Log lines dropped because the output could not keep up.',
    },
    () => [{ value: dropped() }],
  )
}
