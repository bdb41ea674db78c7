import type { Log } from '../../log/log.ts'
import { createShedShare } from './shed-share.ts'

interface OverloadSettings {
  /** How late the event loop may be, all the time, before new requests are refused. */
  readonly loopDelayMs: number
  /** The most requests under way at the same time. */
  readonly inFlight: number
}

/** The door to the process: who may still come in. */
export interface Overload {
  /** Whether one more request may begin. Who was let in has to leave. */
  readonly enter: () => boolean
  readonly leave: () => void
  /** Which share of new requests is refused because the event loop is late. */
  readonly share: () => number
  readonly close: () => void
}

const sampleMs = 50
const tellMs = 1000

/**
 * Refuses new requests before those that are under way suffer. It costs a request two comparisons.
 * What is refused is told in one line a second, for a line each would be part of the load.
 */
export function createOverload({ loopDelayMs, inFlight }: OverloadSettings, log: Log): Overload {
  const shed = createShedShare(loopDelayMs)
  let share = 0
  let open = 0
  let refused = 0
  let toldAt = Number.NEGATIVE_INFINITY
  let told = false
  let dueAt = performance.now() + sampleMs
  let timer = setTimeout(sample, sampleMs).unref()

  function sample(): void {
    const now = performance.now()
    shed.sample(Math.max(0, now - dueAt), now)
    share = shed.now()
    if (now - toldAt >= tellMs) tell(now)
    dueAt = performance.now() + sampleMs
    timer = setTimeout(sample, sampleMs).unref()
  }

  function tell(now: number): void {
    if (refused > 0) {
      const loopMs = Math.round(shed.standingMs())
      log.warn({ refused, share: round(share), loopMs, inFlight: open }, 'overloaded')
      told = true
      refused = 0
      toldAt = now
    } else if (told && share === 0) {
      log.info('no longer overloaded')
      told = false
    }
  }

  return {
    enter() {
      if (open < inFlight && (share === 0 || Math.random() >= share)) {
        open++
        return true
      }
      refused++
      return false
    },
    leave() {
      open--
    },
    share: () => share,
    close: () => clearTimeout(timer),
  }
}

function round(share: number): number {
  return Math.round(share * 100) / 100
}
