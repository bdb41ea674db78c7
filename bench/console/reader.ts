import { setTimeout as pause } from 'node:timers/promises'
import { policyKeys } from '../../src/stores/policies/document/policy-keys.ts'
import { createSubscriber } from '../../src/stores/redis/redis-subscriber.ts'
import type { World } from './world.ts'

const streams = ['live/traffic', 'live/decisions'] as const

/** A reader who opens and closes the live pages, as far as console and gateways are concerned. */
export interface Reader {
  /** Events that the streams have sent so far. */
  readonly events: () => number
  /** Returns when the gateways send decisions. */
  open(): Promise<void>
  /** Returns when the gateways have stopped recording decisions. */
  close(): Promise<void>
  end(): void
}

/** Longer than the time between two batches. */
const silenceMs = 1500
/** Longer than a gateway records decisions after the last batch. */
const watchedMs = 3500

export function createReader({ address, cookie, redis }: World): Reader {
  let controller: AbortController | undefined
  let events = 0
  let heardAt = Number.NEGATIVE_INFINITY
  // Gateways learn of a console from a key that expires, so only they can say whether they watch.
  const subscriber = createSubscriber(redis, {
    channel: policyKeys(redis.prefix).decisions,
    onHint(message) {
      if (message !== undefined) heardAt = performance.now()
    },
  })

  async function read(body: ReadableStream<Uint8Array>): Promise<void> {
    for await (const chunk of body) {
      events += Buffer.from(chunk).toString().split('\n\n').length - 1
    }
  }

  return {
    events: () => events,
    async open() {
      controller = new AbortController()
      const { signal } = controller
      const openedAt = performance.now()
      for (const path of streams) {
        const headers = { cookie: `${cookie.name}=${cookie.value}` }
        const { status, body } = await fetch(`${address}api/v1/${path}`, { headers, signal })
        if (status !== 200 || body === null) throw new Error(`${path}: ${status}`)
        // Rejects when it is closed.
        void read(body).catch(() => {})
      }
      while (heardAt < openedAt) await pause(100)
    },
    async close() {
      controller?.abort()
      controller = undefined
      while (performance.now() - heardAt < silenceMs) await pause(100)
      await pause(watchedMs)
    },
    end() {
      controller?.abort()
      subscriber.close()
    },
  }
}
