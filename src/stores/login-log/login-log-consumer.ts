import type { FeedLog } from '../../background/feed-log.ts'
import { createOutbox } from '../../background/outbox.ts'
import type { InsertRecords } from '../../login/login-record.ts'
import type { StreamEntry } from './login-log-entry.ts'
import type { LoginLogStream } from './login-log-stream.ts'

/** The lines that are written about the stream. */
export interface StreamLog extends FeedLog {
  error(fields: object, text: string): void
}

export interface LoginLogConsumerParts {
  readonly stream: LoginLogStream
  readonly insert: InsertRecords
  readonly log: StreamLog
  /** How often it reads without being woken. */
  readonly pollMs?: number
  /** When an entry may be claimed from another consumer. Too early costs work, not records. */
  readonly idleMs?: number
  /** After how long without a sign a replica with nothing in hand is forgotten. */
  readonly goneMs?: number
}

/** A batch is kept until it is in the table and off the stream. */
interface Batch {
  readonly entries: readonly StreamEntry[]
  /** Once the rest is in the table: what still has to be set aside. */
  poison?: { readonly entry: StreamEntry; readonly reason: string }[]
}

/**
 * Takes records from the stream to the table. Every replica has one, and they share the work. Reads
 * a batch, inserts it into the table, deletes it from the stream, and repeats until the stream is
 * empty: from time to time entries that other consumers left, otherwise new ones. After a failure
 * the batch is kept for the next round; if this process dies, another one claims it.
 */
export function createLoginLogConsumer(parts: LoginLogConsumerParts) {
  const { stream, insert, log, pollMs = 1000, idleMs = 5000, goneMs = 60_000 } = parts
  const counts = { written: 0, refused: 0 }
  let batch: Batch | undefined
  let nextClaim = Number.NEGATIVE_INFINITY

  async function next(): Promise<Batch | undefined> {
    if (performance.now() >= nextClaim) {
      const entries = await stream.claim(idleMs, goneMs)
      if (entries.length > 0) return { entries }
      nextClaim = performance.now() + idleMs / 2
    }
    const entries = await stream.read()
    return entries.length === 0 ? undefined : { entries }
  }

  async function put({ entries }: Batch): Promise<NonNullable<Batch['poison']>> {
    const { written, refused } = await insert(entries.flatMap(({ record }) => record ?? []))
    counts.written += written
    const reasons = new Map(refused.map(({ record, reason }) => [record, reason]))
    return entries.flatMap((entry) => {
      const reason = entry.record === undefined ? 'unreadable' : reasons.get(entry.record)
      return reason === undefined ? [] : [{ entry, reason }]
    })
  }

  async function setAside(poison: NonNullable<Batch['poison']>): Promise<void> {
    for (let [first] = poison; first !== undefined; [first] = poison) {
      await stream.setAside(first.entry, first.reason)
      poison.shift()
      counts.refused++
      const { entry, reason } = first
      log.error({ entry: entry.id, reason }, 'login log: entry set aside')
    }
  }

  /** Whether there may be more. */
  async function turn(): Promise<boolean> {
    batch ??= await next()
    if (batch === undefined) return false
    batch.poison ??= await put(batch)
    await setAside(batch.poison)
    await stream.done(batch.entries.map(({ id }) => id))
    batch = undefined
    return true
  }

  const outbox = createOutbox({
    async deliver({ signal }) {
      while (!signal.aborted && (await turn()));
      return undefined
    },
    everyMs: pollMs,
    log,
    failed: 'login log: write failed; records stay in the stream',
    recovered: 'login log: writes recovered',
    // What is left in hand is claimed by another one, and so is found with its owner.
    leave: stream.leave,
  })
  outbox.wake()
  return {
    /** Signals that the stream has new records. */
    wake: outbox.wake,
    /** Takes what is there, for at most `deadlineMs`; the rest stays for the other replicas. */
    close: outbox.close,
    state: () => ({ ...counts, retried: outbox.failures() }),
  }
}
