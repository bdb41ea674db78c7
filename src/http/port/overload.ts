import type { Log } from '../../log/log.ts'
import { createShedShare } from './shed-share.ts'

interface OverloadSettings {
  /** Event-loop delay, sustained for one second, above which requests are shed. */
  readonly loopDelayMs: number
  /** The most requests in progress at a time. */
  readonly inFlight: number
}

/** Decides which requests the process still accepts. */
export type Overload = ReturnType<typeof createOverload>

const sampleMs = 50
const reportEveryMs = 1000

/**
 * Sheds new requests before those in progress suffer. A request pays two comparisons for it. One log
 * line a second reports how many were shed: a line for each would add to the load.
 */
export function createOverload({ loopDelayMs, inFlight }: OverloadSettings, log: Log) {
  const shed = createShedShare(loopDelayMs)
  let share = 0
  let open = 0
  let refused = 0
  let reportedAt = Number.NEGATIVE_INFINITY
  let isReported = false
  let dueAt = performance.now() + sampleMs
  let timer = setTimeout(sample, sampleMs).unref()

  function sample(): void {
    const now = performance.now()
    shed.sample(Math.max(0, now - dueAt), now)
    share = shed.now()
    if (now - reportedAt >= reportEveryMs) report(now)
    dueAt = performance.now() + sampleMs
    timer = setTimeout(sample, sampleMs).unref()
  }

  function report(now: number): void {
    if (refused > 0) {
      const loopMs = Math.round(shed.standingMs())
      log.warn({ refused, share: round(share), loopMs, inFlight: open }, 'overloaded')
      isReported = true
      refused = 0
      reportedAt = now
    } else if (isReported && share === 0) {
      log.info('no longer overloaded')
      isReported = false
    }
  }

  return {
    /** Whether one more request may begin. Every `true` must be followed by one `leave`. */
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
    /** The share of new requests that is shed because the event loop is late. */
    share: () => share,
    close: () => clearTimeout(timer),
  }
}

function round(share: number): number {
  return Math.round(share * 100) / 100
}
