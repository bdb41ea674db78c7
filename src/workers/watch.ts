import type { Log } from '../log/log.ts'
import type { WholeFigures } from '../metrics/aggregate.ts'
import type { Place } from './worker-slot.ts'

interface WatchSettings {
  /** How often workers are asked what they have counted; no more than that is lost with one. */
  readonly everyMs?: number
  /** So many questions in a row without an answer, and its event loop stands still. */
  readonly mostMissed?: number
}

/** Looks after workers that are there. */
interface Watch {
  /** Fetches the figures of every worker that answers. */
  readonly collect: () => Promise<void>
  /** Whether a worker that should did not answer the last time. */
  readonly isSilent: (place: Place) => boolean
  readonly close: () => void
}

/**
 * Asks every worker again and again. One that has gone silent is killed, so that another takes its
 * place: nobody else can see it, for the ops port is not its own. Questions are counted, and not
 * seconds: a machine that slept has not been silent.
 */
export function createWatch(
  places: readonly Place[],
  figures: WholeFigures,
  log: Log,
  { everyMs = 5000, mostMissed = 6 }: WatchSettings = {},
): Watch {
  const missed = new Map<number, number>()

  /** Whether it has answered, or need not. */
  async function collectFrom(place: Place, which: 'figures' | 'ownFigures'): Promise<boolean> {
    if (place.state() !== 'listening') return true
    const answer = await place.ask(which)
    if (answer !== undefined) figures.take(place.number, answer)
    return answer !== undefined || place.state() !== 'listening'
  }

  /** Only here: how often somebody else asks says nothing about how long it has been silent. */
  async function check(place: Place): Promise<void> {
    if (await collectFrom(place, 'ownFigures')) missed.delete(place.number)
    else missed.set(place.number, (missed.get(place.number) ?? 0) + 1)
  }

  async function beat(): Promise<void> {
    await Promise.all(places.map(check))
    for (const place of places) {
      if ((missed.get(place.number) ?? 0) < mostMissed) continue
      missed.delete(place.number)
      log.error({ worker: place.number, endedPid: place.pid() }, 'killing unresponsive worker')
      place.kill()
    }
  }

  const timer = setInterval(() => void beat(), everyMs)
  return {
    async collect() {
      await Promise.all(places.map((place) => collectFrom(place, 'figures')))
    },
    isSilent: ({ number }) => missed.has(number),
    close: () => clearInterval(timer),
  }
}
