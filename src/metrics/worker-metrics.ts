import type { MetricRegistry } from './registry.ts'

interface CountedWorkers {
  readonly states: readonly string[]
  readonly restarts: number
  /** How many serve by an older configuration than the others. */
  readonly outdated: number
}

export function addWorkerMetrics(registry: MetricRegistry, read: () => CountedWorkers): void {
  registry.readGauge({
    name: 'postern_workers',
    help: 'Workers by state; waiting is a slot whose next process has not started yet.',
    labels: ['state'],
    aggregate: 'sum',
    read: () =>
      ['waiting', 'starting', 'listening', 'silent', 'closing'].map((state) => [
        read().states.filter((one) => one === state).length,
        state,
      ]),
  })
  registry.readCounter({
    name: 'postern_worker_restarts_total',
    help: 'Worker processes started to replace one that exited.',
    read: () => read().restarts,
  })
  registry.readGauge({
    name: 'postern_workers_outdated',
    help: 'Workers that could not apply the active configuration and serve by an older one.',
    aggregate: 'sum',
    read: () => read().outdated,
  })
}
