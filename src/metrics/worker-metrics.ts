import type { MetricRegistry } from './registry.ts'

interface CountedWorkers {
  readonly states: readonly string[]
  readonly restarts: number
}

export function addWorkerMetrics(registry: MetricRegistry, read: () => CountedWorkers): void {
  registry.readGauge(
    {
      name: 'postern_workers',
      help: 'Workers by state; waiting is a slot whose next process has not started yet.',
      labels: ['state'],
      aggregate: 'sum',
    },
    () =>
      ['waiting', 'starting', 'listening', 'silent', 'closing'].map((state) => ({
        value: read().states.filter((one) => one === state).length,
        labels: { state },
      })),
  )
  registry.readCounter(
    {
      name: 'postern_worker_restarts_total',
      help: 'Worker processes started to replace one that exited.',
    },
    () => [{ value: read().restarts }],
  )
}
