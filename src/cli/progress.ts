import type { Io } from './io.ts'

/** Shows how far something is, to a person who has been waiting for a second. */
interface Progress {
  /** Replaces what was shown before. May be called as often as one likes. */
  readonly show: (words: () => string) => void
  /** Takes the line away again. */
  readonly end: () => void
}

const afterMs = 1000
const everyMs = 100

/** When each command began: reading the program itself does not count. */
const beginnings = new WeakMap<Io, number>()

/** To be called when a command begins. */
export function startClock(io: Io, now = performance.now()): void {
  beginnings.set(io, now)
}

/** Shows nothing unless a person watches. `now` is in milliseconds. */
export function createProgress(io: Io, now: () => number = () => performance.now()): Progress {
  const began = beginnings.get(io) ?? now()
  let shown = Number.NEGATIVE_INFINITY
  let isShown = false
  return {
    show(words) {
      if (io.isTerminal !== true) return
      const at = now()
      if (at - began < afterMs || at - shown < everyMs) return
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

/** The share of some work that is done, for `show`. */
export function percentOf(what: string): (done: number, total: number) => string {
  return (done, total) => `${what}: ${Math.floor((done * 100) / Math.max(total, 1))} %`
}
