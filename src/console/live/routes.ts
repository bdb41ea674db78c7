import type { FastifyInstance } from 'fastify'
import type { DecisionBatch } from '../../fleet/decision-batch.ts'
import type { ConsoleGuard } from '../access/guard.ts'
import type { decisionEvents, EventsOf, trafficEvents } from './events.ts'
import type { Streams } from './streams.ts'
import { stepMs, type Traffic } from './traffic.ts'

interface DecisionListener {
  readonly onBatch: (batch: DecisionBatch) => void
  /** Whether what carries decisions can be heard, at each change; at first it cannot. */
  readonly onConnected: (isConnected: boolean) => void
}

/** Starts to watch what gateways decide, and returns what ends it. */
export type WatchDecisions = (listener: DecisionListener) => () => void

interface LiveParts {
  readonly guard: Pick<ConsoleGuard, 'sessionOf'>
  readonly streams: Streams
  readonly traffic: Traffic
  /** Unset: the console runs beside no gateway and without a Redis that gateways report to. */
  readonly watchDecisions: WatchDecisions | undefined
}

/** A HEAD would hold a stream open that no one reads. */
const live = { config: { access: { role: 'reader' } }, exposeHeadRoute: false } as const

/** The streams of the pages Overview and Decisions. */
export function addLiveRoutes(scope: FastifyInstance, parts: LiveParts): void {
  const { guard, streams, traffic } = parts
  const watch = parts.watchDecisions && shared(parts.watchDecisions)

  scope.get('/live/traffic', live, (request, reply) => {
    const stream = streams.start<EventsOf<typeof trafficEvents>>(reply, guard.sessionOf(request))
    stream.send('history', { stepMs, points: traffic.points() })
    stream.onClose(traffic.follow((point) => stream.send('point', point)))
  })

  scope.get('/live/decisions', live, (request, reply) => {
    const stream = streams.start<EventsOf<typeof decisionEvents>>(reply, guard.sessionOf(request))
    const tell = (isConnected: boolean) =>
      stream.send('state', { available: watch !== undefined, connected: isConnected })
    tell(false)
    if (watch === undefined) return
    stream.onClose(
      watch({ onBatch: (batch) => stream.send('decisions', batch), onConnected: tell }),
    )
  })

  scope.addHook('preClose', async () => streams.close())
}

/** One watch for all streams, and none without one. */
function shared(watch: WatchDecisions): WatchDecisions {
  const listeners = new Set<DecisionListener>()
  let end: (() => void) | undefined
  let isConnected = false
  return (listener) => {
    listeners.add(listener)
    if (isConnected) listener.onConnected(true)
    end ??= watch({
      onBatch(batch) {
        for (const each of listeners) each.onBatch(batch)
      },
      onConnected(is) {
        isConnected = is
        for (const each of listeners) each.onConnected(is)
      },
    })
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return
      end?.()
      end = undefined
      isConnected = false
    }
  }
}
