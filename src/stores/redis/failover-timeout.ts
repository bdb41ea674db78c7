import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '../../kernel/errors.ts'
import { parseRedisUrl } from './redis-address.ts'

/** How long a command waits for a failover. A standalone Redis has no failover. */
const FAILOVER_MS = 10_000
const RETRY_MS = 200

/** How long to retry, in ms: 0 for a Redis without failover. */
export function failoverTimeout(url: string): number {
  return parseRedisUrl(url).kind === 'standalone' ? 0 : FAILOVER_MS
}

/** Retries work while Redis is unreachable or failing over. */
export async function retryDuringFailover<T>(work: () => Promise<T>, forMs: number): Promise<T> {
  const end = performance.now() + forMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isTransient(error) || performance.now() >= end) throw error
      await pause(RETRY_MS)
    }
  }
}

/** Whether a retry may succeed: no reply at all, or one that a failover causes. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof Fault) || error.part !== 'redis') return false
  const { cause } = error
  if (!(cause instanceof Error)) return false
  const reply = /^[A-Z]{2,}(?= )/.exec(cause.message)?.[0]
  return reply === undefined || failingOver.has(reply)
}

const failingOver = new Set(
  'ASK CLUSTERDOWN LOADING MASTERDOWN MOVED NOREPLICAS READONLY TRYAGAIN'.split(' '),
)
