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
  written: 'Login records this process wrote to the table.',
  dropped: 'Login records dropped because the queue was full.',
  refused: 'Login records the table rejected, and unreadable entries of the stream.',
  retried: 'Failed writes of login records that are retried.',
} as const

/** Shows whether the login log keeps up, and what it lost. */
export function addLoginLogMetrics(figures: Figures, read: () => CountedLoginRecords): void {
  figures.readGauge(
    {
      name: 'postern_login_log_queued',
      help: 'Login records held only in the memory of this process.',
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
