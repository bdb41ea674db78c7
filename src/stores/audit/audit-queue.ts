import type { Database } from '../database/database.ts'
import { refusedContent } from '../database/database-fault.ts'
import { failureText } from '../feed/failure-text.ts'
import type { FeedLog } from '../feed/feed-log.ts'
import { createPolling } from '../feed/polling.ts'
import { withTimeout } from '../with-timeout.ts'
import { type AuditEntry, recordChange } from './audit.ts'
import { recordIfNew } from './record-if-new.ts'

/** The changes that a gateway makes or finds by itself, on their way to the database. */
export interface AuditQueue {
  /** Never waits and never throws. With `ifNew`, only what the log does not have last. */
  readonly add: (entry: AuditEntry, options?: { readonly ifNew?: boolean }) => void
  readonly state: () => { readonly waiting: number; readonly dropped: number }
  /** Writes what is left, within two seconds. */
  readonly close: () => Promise<void>
}

interface QueueParts {
  readonly database: Pick<Database, 'db' | 'shapes'>
  readonly log: FeedLog
  readonly maxWaiting?: number
}

interface Waiting {
  readonly entry: AuditEntry
  readonly ifNew: boolean
  /** By the monotonic clock of this process. */
  readonly since: number
}

const retryMs = 60_000
const closeMs = 2000

/**
 * While the database is unreachable, entries wait here, up to a limit, and are retried: a gateway goes
 * on serving without it. A full queue drops the newest entry: the oldest tells where a change began.
 */
export function createAuditQueue({ database, log, maxWaiting = 1000 }: QueueParts): AuditQueue {
  const waiting: Waiting[] = []
  let dropped = 0
  let complaint: string | undefined

  function drop({ action, subject }: AuditEntry, reason: string): void {
    dropped++
    log.warn({ action, subject, reason, dropped }, 'audit entry dropped')
  }

  async function write({ entry, ifNew, since }: Waiting): Promise<void> {
    const dated = { ...entry, agoMs: performance.now() - since }
    await (ifNew ? recordIfNew(database, dated) : recordChange(database, dated))
  }

  async function attempt(): Promise<'unanswered' | undefined> {
    for (let [first] = waiting; first !== undefined; [first] = waiting) {
      try {
        await write(first)
      } catch (error) {
        const reason = failureText(error)
        if (refusedContent(error) === undefined) {
          if (complaint !== reason) log.warn({ reason }, 'audit entries wait for the database')
          complaint = reason
          return 'unanswered'
        }
        drop(first.entry, reason)
      }
      waiting.shift()
    }
    if (complaint !== undefined) log.info({}, 'audit entries recorded again')
    complaint = undefined
    return undefined
  }

  const polling = createPolling(attempt, retryMs)
  return {
    add(entry, { ifNew = false } = {}) {
      if (waiting.length >= maxWaiting) return drop(entry, `${maxWaiting} entries wait already`)
      waiting.push({ entry, ifNew, since: performance.now() })
      void polling.now()
    },
    state: () => ({ waiting: waiting.length, dropped }),
    async close() {
      const last = polling.close().then(attempt)
      await withTimeout(closeMs, last).catch(() => {})
      for (const { entry } of waiting) drop(entry, complaint ?? 'the gateway ends')
    },
  }
}
