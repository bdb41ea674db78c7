import type { Config } from '../../config/schema/schema.ts'
import type { WatchDecisions } from '../../console/live/routes.ts'
import { batchMs, readBatch } from '../../fleet/decision-batch.ts'
import type { Closing } from '../../kernel/closing.ts'
import { watchDecisions } from '../../stores/policies/replicas/watch-decisions.ts'
import { openRedis } from '../../stores/redis/redis.ts'

/** The channel to the gateway that started the console. */
export type GatewayChannel = Pick<NodeJS.Process, 'on' | 'off'> & {
  readonly send?: ((message: object) => unknown) | undefined
}

/**
 * How the console hears decisions: over the Redis that gateways report to, or from the gateway that
 * started it. `undefined` if it has neither.
 */
export async function openDecisionWatch(
  { policy, redis: settings }: Pick<Config, 'policy' | 'redis'>,
  channel: GatewayChannel | undefined,
  closing: Closing,
): Promise<WatchDecisions | undefined> {
  const { url } = settings
  if (policy.source === 'redis' && url !== undefined) {
    const redis = await openRedis(settings)
    if (redis === undefined) return undefined
    closing.add(redis.close)
    return (listener) => watchDecisions(redis, { ...settings, url }, listener)
  }
  return channel?.send === undefined ? undefined : watchGateway(channel)
}

/** Asks the gateway twice a second. One question at a time: a busy gateway is not asked more. */
function watchGateway(channel: GatewayChannel): WatchDecisions {
  return ({ onBatch, onConnected }) => {
    let isConnected = false
    const onMessage = (message: unknown) => {
      const { kind, batches } = Object(message)
      if (kind !== 'decisions' || !Array.isArray(batches)) return
      if (!isConnected) onConnected(true)
      isConnected = true
      for (const each of batches) {
        const batch = readBatch(each)
        if (batch !== undefined) onBatch(batch)
      }
    }
    const ask = () => void channel.send?.({ kind: 'decisions' })
    channel.on('message', onMessage)
    ask()
    const timer = setInterval(ask, batchMs)
    return () => {
      clearInterval(timer)
      channel.off('message', onMessage)
    }
  }
}
