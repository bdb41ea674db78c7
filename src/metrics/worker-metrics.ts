import type { Figures } from './registry.ts'

/** What is known about the workers of one gateway. */
interface CountedWorkers {
  readonly states: readonly string[]
  readonly restarts: number
}

/** Shows what the workers do, and how often one had to be replaced. */
export function addWorkerMetrics(figures: Figures, read: () => CountedWorkers): void {
  figures.readGauge(
    {
      name: 'postern_workers',
      help: 'Workers by state; waiting is a slot whose next process has not started yet.',
      labels: ['state'],
      whole: 'sum',
    },
    () =>
      ['waiting', 'starting', 'listening', 'silent', 'closing'].map((state) => ({
        value: read().states.filter((one) => one === state).length,
        labels: { state },
      })),
  )
  figures.readCounter(
    {
      name: 'postern_worker_restarts_total',
      help: 'Worker processes started to replace one that exited.',
    },
    () => [{ value: read().restarts }],
  )
}
