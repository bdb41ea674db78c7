import type { Progress } from '../operations/progress.ts'
import type { Io } from './io.ts'

const afterMs = 1000
const everyMs = 100

/** Shows nothing unless stderr is a terminal. `now` is in milliseconds. */
export function createProgress(
  io: Pick<Io, 'isTerminal' | 'err'>,
  now: () => number = () => performance.now(),
): Progress {
  const started = now()
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
