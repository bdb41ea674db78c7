import { type DecisionBatch, readBatch } from '../../../fleet/decision-batch.ts'
import { readJson } from '../../../kernel/json.ts'
import type { RedisClient, RedisSettings } from '../../redis/redis.ts'
import { createSubscriber } from '../../redis/redis-subscriber.ts'
import { policyKeys } from '../document/policy-keys.ts'
import { REPORT_EVERY_MS } from './replica-report.ts'

/** More than a gateway sends: anyone who can write to Redis can send. */
const maxMessage = 256 * 1024

interface DecisionListener {
  readonly onBatch: (batch: DecisionBatch) => void
  /** Whether Redis can be heard, at each change. */
  readonly onConnected: (isConnected: boolean) => void
}

/**
 * Hears what all gateways decide, from now until the returned function is called. They learn from a key
 * that expires by itself that a console watches: one that was killed costs them nothing for long.
 */
export function watchDecisions(
  redis: RedisClient,
  settings: RedisSettings,
  { onBatch, onConnected }: DecisionListener,
): () => void {
  const keys = policyKeys(redis.prefix)
  const announce = () =>
    void redis
      .run((commands) => commands.set(keys.decisionWatch, '1', 'PX', 3 * REPORT_EVERY_MS))
      .catch(() => {})
  const subscriber = createSubscriber(settings, {
    channel: keys.decisions,
    onHint(message) {
      if (message === undefined) return onConnected(true)
      const batch = message.length > maxMessage ? undefined : readBatch(readJson(message))
      if (batch !== undefined) onBatch(batch)
    },
    onLost: () => onConnected(false),
  })
  announce()
  const timer = setInterval(() => {
    announce()
    void subscriber.check()
  }, REPORT_EVERY_MS)
  return () => {
    clearInterval(timer)
    subscriber.close()
  }
}
