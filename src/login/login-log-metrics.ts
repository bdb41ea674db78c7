import type { MetricRegistry } from '../metrics/registry.ts'
import type { LoginLogState } from './login-log.ts'

const counters = [
  ['written', 'Login records this process wrote to the table.'],
  ['dropped', 'Login records dropped because the queue was full.'],
  ['refused', 'Login records the table rejected, and unreadable entries of the stream.'],
  ['retried', 'Failed writes of login records that are retried.'],
] as const

/** Shows whether the login log keeps up, and what it dropped. */
export function addLoginLogMetrics(registry: MetricRegistry, read: () => LoginLogState): void {
  registry.readGauge({
    name: 'postern_login_log_queued',
    help: 'Login records held only in the memory of this process.',
    aggregate: 'sum',
    read: () => read().queued,
  })
  for (const [kind, help] of counters) {
    registry.readCounter({
      name: `postern_login_log_${kind}_total`,
      help,
      read: () => read()[kind],
    })
  }
}
