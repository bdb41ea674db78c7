import type { FeedLog } from '../../../background/feed-log.ts'
import { createOutbox } from '../../../background/outbox.ts'
import { Fault } from '../../../kernel/errors.ts'
import type { Move } from '../document/policy-keys.ts'
import { moveKey } from './merge-moves.ts'
import type { MoveTable } from './move-table.ts'

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
export function createMoveCopies({ history, table, log, spreadMs = 2000 }: CopyParts) {
  let copied: string | undefined
  let isDue = false
  let timer: NodeJS.Timeout | undefined

  async function copy(): Promise<void> {
    const [newest] = await history(1)
    if (newest === undefined || moveKey(newest) === copied) return
    if (!(await table.has(newest))) await table.add(await history())
    copied = moveKey(newest)
  }

  const outbox = createOutbox({
    async deliver({ isLast }) {
      if (isLast && !isDue) return 'idle'
      isDue = false
      try {
        await copy()
        return undefined
      } catch (error) {
        isDue = true
        // Other lines say that Redis is unreachable.
        if (error instanceof Fault && error.part === 'redis') return 'unanswered'
        throw error
      }
    },
    everyMs,
    log,
    failed: 'policy history not copied to the database',
    recovered: 'policy history copied to the database again',
  })

  return {
    /** To be called when the head may have moved. */
    moved() {
      isDue = true
      timer ??= setTimeout(() => {
        timer = undefined
        outbox.wake()
      }, Math.random() * spreadMs)
    },
    async close() {
      clearTimeout(timer)
      await outbox.close()
    },
  }
}
