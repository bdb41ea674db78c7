import type { Log } from '../log/log.ts'
import type { AggregateMetrics } from '../metrics/aggregate.ts'
import type { WorkerSlot } from './worker-slot.ts'

interface WatchSettings {
  /** How often workers report their metrics; at most this much is lost with one. */
  readonly everyMs?: number
  /** So many questions in a row without an answer mean that its event loop is blocked. */
  readonly maxMissed?: number
}

/**
 * Health check of the workers. An unresponsive worker is killed and replaced: Kubernetes cannot see it,
 * because the ops port belongs to the supervisor. Questions count, not seconds: a machine that was
 * suspended did not make its workers unresponsive.
 */
export function createWatch(
  slots: readonly WorkerSlot[],
  metrics: AggregateMetrics,
  log: Log,
  { everyMs = 5000, maxMissed = 6 }: WatchSettings = {},
) {
  const missed = new Map<number, number>()

  /** Whether it has answered, or did not have to. */
  async function collectFrom(slot: WorkerSlot, which: 'metrics' | 'ownMetrics'): Promise<boolean> {
    if (slot.state() !== 'listening') return true
    const answer = await slot.ask(which)
    if (answer !== undefined) metrics.take(slot.number, answer)
    return answer !== undefined || slot.state() !== 'listening'
  }

  /** Only these questions count: scrapes come at any rate. */
  async function check(slot: WorkerSlot): Promise<void> {
    if (await collectFrom(slot, 'ownMetrics')) missed.delete(slot.number)
    else missed.set(slot.number, (missed.get(slot.number) ?? 0) + 1)
  }

  async function tick(): Promise<void> {
    await Promise.all(slots.map(check))
    for (const slot of slots) {
      if ((missed.get(slot.number) ?? 0) < maxMissed) continue
      missed.delete(slot.number)
      log.error({ worker: slot.number, endedPid: slot.pid() }, 'killing unresponsive worker')
      slot.kill()
    }
  }

  const timer = setInterval(() => void tick(), everyMs)
  return {
    /** Fetches the metrics of every worker that answers. */
    async collect() {
      await Promise.all(slots.map((slot) => collectFrom(slot, 'metrics')))
    },
    /** Whether a listening worker did not answer the last question. */
    isSilent: ({ number }: WorkerSlot) => missed.has(number),
    close: () => clearInterval(timer),
  }
}
