import type { Io } from './io.ts'

/** Shows progress to a person who has waited for a second. */
interface Progress {
  /** Replaces what was shown before. Cheap to call often. */
  readonly show: (words: () => string) => void
  /** Clears the line. */
  readonly end: () => void
}

const afterMs = 1000
const everyMs = 100

/** When each command started, without the time to load the program. */
const starts = new WeakMap<Io, number>()

/** Call it when a command starts. */
export function startClock(io: Io, now = performance.now()): void {
  starts.set(io, now)
}

/** Shows nothing unless stderr is a terminal. `now` is in milliseconds. */
export function createProgress(io: Io, now: () => number = () => performance.now()): Progress {
  const started = starts.get(io) ?? now()
  let shown = Number.NEGATIVE_INFINITY
  let isShown = false
  return {
    show(words) {
      if (io.isTerminal !== true) return
      const at = now()
      if (at - started < afterMs || at - shown < everyMs) return
      shown = at
      isShown = true
      io.err(`\r\u001b[K${words()}`)
    },
    end() {
      if (isShown) io.err('\r\u001b[K')
      isShown = false
    },
  }
}

/** The percentage of the work that is done, for `show`. */
export function percentOf(what: string): (done: number, total: number) => string {
  return (done, total) => `${what}: ${Math.floor((done * 100) / Math.max(total, 1))} %`
}
