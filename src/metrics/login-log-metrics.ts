import type { Figures } from './registry.ts'

/** What became of login records in this process. */
interface CountedLoginRecords {
  readonly queued: number
  readonly written: number
  readonly dropped: number
  readonly refused: number
  readonly retried: number
}

const counters = {
  written: 'Rows that this process added to the login log.',
  dropped: 'Login records lost because there was no room for them.',
  refused: 'Login records that the table refused, and entries of the stream that are none.',
  retried: 'Failed tries to pass login records on; each is followed by another.',
} as const

/** Shows whether the login log keeps up, and what it lost. */
export function addLoginLogMetrics(figures: Figures, read: () => CountedLoginRecords): void {
  figures.readGauge(
    {
      name: 'postern_login_log_queued',
      help: 'Login records that only this process has.',
      whole: 'sum',
    },
    () => [{ value: read().queued }],
  )
  for (const [kind, help] of Object.entries(counters)) {
    figures.readCounter({ name: `postern_login_log_${kind}_total`, help }, () => [
      { value: read()[kind as keyof typeof counters] },
    ])
  }
}
