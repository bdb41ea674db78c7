import { batchMs, type DecisionBatch } from '../../../fleet/decision-batch.ts'
import type { RedisClient } from '../../redis/redis.ts'
import { policyKeys } from '../document/policy-keys.ts'
import { OVERDUE_MS } from './replica-report.ts'

/**
 * Sends what this gateway decides to the consoles that watch. Sends batches until no report has
 * learned of a console for a while. Losing one is harmless.
 */
export function createDecisionFeed(redis: RedisClient, take: () => DecisionBatch) {
  const { decisions: channel } = policyKeys(redis.prefix)
  let timer: NodeJS.Timeout | undefined
  let until = 0

  function close(): void {
    clearInterval(timer)
    timer = undefined
  }

  async function send(): Promise<void> {
    if (performance.now() > until) return close()
    const batch = take()
    if (batch.decisions.length === 0 && batch.leftOut === 0) return
    const text = JSON.stringify(batch)
    await redis.run((commands) => commands.publish(channel, text)).catch(() => {})
  }

  return {
    /** To be called when a report learned that a console watches. */
    watched() {
      until = performance.now() + OVERDUE_MS
      timer ??= setInterval(() => void send(), batchMs)
    },
    close,
  }
}
