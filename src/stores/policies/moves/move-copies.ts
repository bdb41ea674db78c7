import { failureText } from '../../../background/failure-text.ts'
import { createPolling } from '../../../background/polling.ts'
import { Fault } from '../../../errors.ts'
import type { FeedLog } from '../../feed/feed-log.ts'
import type { Move } from '../document/policy-keys.ts'
import { moveKey } from './move-key.ts'
import type { MoveTable } from './move-table.ts'

interface MoveCopies {
  /** To be called when the head may have moved. */
  readonly moved: () => void
  readonly close: () => Promise<void>
}

interface CopyParts {
  /** The last moves in Redis, newest first. */
  readonly history: (most?: number) => Promise<readonly Move[]>
  readonly table: MoveTable
  readonly log: FeedLog
  /** Over how long the replicas of a fleet spread their copies. */
  readonly spreadMs?: number
}

/** Also finds moves that this gateway did not load, and a database that is back. */
const everyMs = 60_000

/**
 * Copies the history from Redis to the database, where it outlives a flushed Redis. Every gateway
 * does, soon after each move; those that come later find that the first one has done it.
 */
export function createMoveCopies({ history, table, log, spreadMs = 2000 }: CopyParts): MoveCopies {
  let copied: string | undefined
  let complaint: string | undefined
  let timer: NodeJS.Timeout | undefined

  async function attempt(): Promise<'unanswered' | undefined> {
    try {
      const [newest] = await history(1)
      if (newest !== undefined && moveKey(newest) !== copied) {
        if (!(await table.has(newest))) await table.add(await history())
        copied = moveKey(newest)
      }
      if (complaint !== undefined) log.info({}, 'policy history copied to the database again')
      complaint = undefined
      return undefined
    } catch (error) {
      // Other lines say that Redis is unreachable.
      if (error instanceof Fault && error.part === 'redis') return 'unanswered'
      const reason = failureText(error)
      if (complaint !== reason) log.warn({ reason }, 'policy history not copied to the database')
      complaint = reason
      return 'unanswered'
    }
  }

  const polling = createPolling(attempt, everyMs)

  function copy(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    return polling.now()
  }

  return {
    moved() {
      timer ??= setTimeout(copy, Math.random() * spreadMs)
    },
    async close() {
      if (timer !== undefined) await copy()
      await polling.close()
    },
  }
}
