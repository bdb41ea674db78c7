import { failureText } from '../../background/failure-text.ts'

/** What operators see of a file that keeps a copy of something live. */
export interface SnapshotState {
  readonly file: string
  /** Whether the file holds what is live; `undefined` while nothing is. */
  readonly current: boolean | undefined
  /** How many writes have failed since the start. */
  readonly failures: number
  /** Why the last one failed; `undefined` once one succeeded. */
  readonly lastError: string | undefined
}

const minPauseMs = 1000
const maxPauseMs = 60_000

/**
 * Writes that failed: how many, why, and when to try again. Pauses grow from a second to a minute:
 * a full disk needs an operator, not a busy loop.
 */
export function createWriteFailures() {
  let failures = 0
  let inARow = 0
  let lastError: string | undefined
  let lastKind: string | undefined
  let isNew = false
  let timer: NodeJS.Timeout | undefined

  return {
    /** Counts one, calls `retry` after a pause, and returns that pause in milliseconds. */
    failed(error: unknown, retry: () => void) {
      lastError = failureText(error)
      // Texts of the system name the temporary file, which is another one each time.
      const kind = (error as NodeJS.ErrnoException).code ?? lastError
      isNew = kind !== lastKind
      lastKind = kind
      failures++
      const pauseMs = Math.min(maxPauseMs, minPauseMs * 2 ** inARow++)
      clearTimeout(timer)
      timer = setTimeout(retry, pauseMs)
      timer.unref()
      return pauseMs
    },
    /** Whether the failure just counted differs from the one before. */
    isNew: () => isNew,
    /** A write succeeded. Returns whether the one before had failed. */
    succeeded() {
      const hadFailed = lastError !== undefined
      inARow = 0
      lastError = undefined
      lastKind = undefined
      clearTimeout(timer)
      return hadFailed
    },
    state: (): Pick<SnapshotState, 'failures' | 'lastError'> => ({ failures, lastError }),
    /** Retries no more. */
    close: () => clearTimeout(timer),
  }
}
