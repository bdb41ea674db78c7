import { BoundedQueue } from '../../background/bounded-queue.ts'
import { failureText } from '../../background/failure-text.ts'
import type { FeedLog } from '../../background/feed-log.ts'
import { createOutbox } from '../../background/outbox.ts'
import { isRecord, readJson } from '../../kernel/json.ts'
import {
  type Database,
  type Db,
  inTransaction,
  refusedContent,
  requireTables,
} from '../database/database.ts'
import { lockUntilCommit, toStorable } from '../database/dialect.ts'
import { type AuditEntry, appendAudit, detailText, recordChange } from './audit.ts'

/** The changes that a gateway makes or finds by itself, on their way to the database. */
export type AuditQueue = ReturnType<typeof createAuditQueue>

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

const everyMs = 60_000

/**
 * While the database is unreachable, entries wait here, up to a limit, and are retried: a gateway goes
 * on serving without it. A full queue drops the newest entry: the oldest tells where a change began.
 */
export function createAuditQueue({ database, log, maxWaiting = 1000 }: QueueParts) {
  const queue = new BoundedQueue<Waiting>({ most: maxWaiting, drops: 'newest' })
  let dropped = 0

  function drop({ action, subject }: AuditEntry, reason: string): void {
    dropped++
    log.warn({ action, subject, reason, dropped }, 'audit entry dropped')
  }

  async function write({ entry, ifNew, since }: Waiting): Promise<void> {
    const dated = { ...entry, agoMs: performance.now() - since }
    try {
      await (ifNew ? recordIfNew(database, dated) : recordChange(database, dated))
    } catch (error) {
      if (refusedContent(error) === undefined) throw error
      drop(entry, failureText(error))
    }
  }

  const outbox = createOutbox({
    async deliver({ signal }) {
      await queue.drain(async ([first]) => first && write(first), signal)
      return undefined
    },
    everyMs,
    log,
    failed: 'audit entries wait for the database',
    recovered: 'audit entries recorded again',
  })
  return {
    /** Never waits and never throws. With `ifNew`, only what the log does not have last. */
    add(entry: AuditEntry, { ifNew = false }: { readonly ifNew?: boolean } = {}) {
      if (queue.add({ entry, ifNew, since: performance.now() })) outbox.wake()
      else drop(entry, `${maxWaiting} entries wait already`)
    },
    state: () => ({ waiting: queue.waiting.size, dropped }),
    /** Writes what is left, within two seconds. */
    async close() {
      await outbox.close()
      for (const { entry } of queue.waiting.values())
        drop(entry, outbox.outage() ?? 'the gateway ends')
    },
  }
}

/**
 * Appends what a gateway found at its start, unless that is the last entry of this action and subject:
 * files can change while no gateway runs, and most starts find what the previous gateway had. Replicas
 * that start together write one entry. What this host had counts too: during a rollout, another host
 * may have newer files.
 */
function recordIfNew(database: QueueParts['database'], entry: AuditEntry): Promise<void> {
  return inTransaction(database, async (inside, shape) => {
    requireTables(shape, 'postern_audit')
    const { anywhere, here } = await lastKnown(inside, entry)
    const found = detailText(entry.after ?? {})
    if (found === anywhere || found === here) return
    const before = anywhere === null ? undefined : fieldsIn(anywhere)
    await appendAudit(inside, shape, [{ ...entry, before }])
  })
}

async function lastKnown(inside: Db, { action, subject, actor }: AuditEntry) {
  const known = toStorable(subject, 255)
  await lockUntilCommit('postern_audit', ` ${action} ${known}`).execute(inside)
  const last = inside
    .selectFrom('postern_audit')
    .select('after')
    .where('action', '=', action)
    .where('subject', '=', known)
    .orderBy('id', 'desc')
    .limit(1)
  const here = last.where('origin', '=', toStorable(actor.origin, 255))
  return inside.selectNoFrom([last.as('anywhere'), here.as('here')]).executeTakeFirstOrThrow()
}

function fieldsIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = readJson(text)
  return isRecord(value) ? value : undefined
}
