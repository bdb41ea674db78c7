import { setTimeout as pause } from 'node:timers/promises'
import { BoundedQueue } from '../background/bounded-queue.ts'
import { createOutbox } from '../background/outbox.ts'
import { withTimeout } from '../background/with-timeout.ts'
import { Fault } from '../kernel/errors.ts'
import type { Log } from '../log/log.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import {
  type AttemptOrigin,
  type AttemptOutcome,
  type InsertRecords,
  type LoginRecord,
  toRecord,
} from './login-record.ts'

/** Queues a record and returns at once: an unreachable store never delays a login. */
export type RecordAttempt = (from: AttemptOrigin, username: string, outcome: AttemptOutcome) => void

export interface LoginLogState {
  /** Only in the memory of this process. */
  readonly queued: number
  /** New rows in the table. */
  readonly written: number
  /** Dropped because the queue was full. */
  readonly dropped: number
  /** Rejected by the table, or unreadable. */
  readonly refused: number
  /** Failed writes; each batch is retried. */
  readonly retried: number
}

export type LoginLog = ReturnType<typeof createLoginLog>

/** A log that outlives this process and moves records to the table itself: a Redis stream. */
export interface SharedLoginLog {
  /** Adds records; returns how many older ones were dropped. Fails at once while unreachable. */
  publish(records: readonly LoginRecord[]): Promise<number>
  /** Moves what it has to the table, for at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>
  state(): Pick<LoginLogState, 'written' | 'refused' | 'retried'>
}

interface LoginLogParts {
  readonly insert: InsertRecords
  readonly shared?: SharedLoginLog | undefined
  readonly log: Log
  readonly now: () => Date
  readonly capacity?: number
}

/** With `logger.enableddb` off, nothing is recorded (specification, Events). */
export const noLoginLog: LoginLog = {
  record: () => {},
  hasRoom: () => true,
  close: async () => {},
  state: () => ({ queued: 0, written: 0, dropped: 0, refused: 0, retried: 0 }),
}

const batchSize = 100
const everyMs = 60_000
const breathMs = 20

/**
 * A record is published before its attempt is answered, so that a process killed after the answer has
 * not lost it. Records that cannot be published, or have no shared log, wait in memory, in order. A batch
 * of them is published, or else inserted. Retrying a whole batch is safe: the store stores each attempt ID
 * once. A full queue drops its oldest record, and counts it.
 */
export function createLoginLog(parts: LoginLogParts) {
  const { insert, shared, log, now, capacity = 10_000 } = parts
  const queue = new BoundedQueue<LoginRecord>({ most: capacity, drops: 'oldest', batchSize })
  const leaving = new Set<Promise<void>>()
  const counts = { written: 0, dropped: 0, refused: 0, retried: 0 }
  let isClosing = false

  function keep(record: LoginRecord): void {
    queue.add(record)
    outbox.wake()
  }

  const record: RecordAttempt = (from, username, outcome) =>
    send(toRecord(from, username, outcome, now()))

  function send(record: LoginRecord): void {
    if (shared === undefined || leaving.size >= capacity) {
      keep(record)
      return
    }
    const sent = publish(shared, [record])
      .catch(() => {
        counts.retried++
        keep(record)
      })
      .finally(() => leaving.delete(sent))
    leaving.add(sent)
  }

  async function publish(to: SharedLoginLog, records: readonly LoginRecord[]): Promise<void> {
    const gone = await to.publish(records)
    counts.dropped += gone
    if (gone > 0) log.error({ dropped: gone }, 'login log: full; oldest records dropped')
  }

  async function passOn(batch: readonly LoginRecord[]): Promise<void> {
    const published =
      shared !== undefined &&
      (await publish(shared, batch).then(
        () => true,
        // Then it goes to the table directly.
        () => false,
      ))
    if (published) return
    const { written, refused } = await insert(batch)
    counts.written += written
    counts.refused += refused.length
    for (const { record, reason } of refused) {
      log.error({ attemptId: record.attemptId, reason }, 'login log: table rejected a record')
    }
  }

  const outbox = createOutbox({
    async deliver({ signal }) {
      if (queue.waiting.size === 0) return 'idle'
      let isFirst = true
      await queue.drain(async (batch) => {
        // The embedded database writes on the event loop, so requests get a turn in between.
        if (!isFirst && !isClosing) await pause(breathMs)
        isFirst = false
        await passOn(batch)
      }, signal)
      return undefined
    },
    everyMs,
    log,
    failed: 'login log: store unreachable',
    recovered: 'login log: writes recovered',
    fieldsOf: (error) => ({ err: error, waiting: queue.waiting.size }),
    insists: true,
  })

  async function published(): Promise<void> {
    while (leaving.size > 0) await Promise.all(leaving)
  }

  return {
    record,
    /** Whether the queue certainly has space for another record. */
    hasRoom: () => queue.waiting.size < capacity * nearlyFull,
    /** Writes what is queued, for at most `deadlineMs`. */
    async close(deadlineMs: number) {
      const end = performance.now() + deadlineMs
      const leftMs = () => Math.max(0, end - performance.now())
      isClosing = true
      await withTimeout(deadlineMs, published()).catch(() => {})
      await outbox.close(leftMs())
      if (queue.waiting.size > 0)
        log.error({ lost: queue.waiting.size }, 'login log: records not written')
      await shared?.close(leftMs())
    },
    state(): LoginLogState {
      const others = shared?.state() ?? { written: 0, refused: 0, retried: 0 }
      return {
        queued: queue.waiting.size + leaving.size,
        written: counts.written + others.written,
        dropped: counts.dropped + queue.dropped,
        refused: counts.refused + others.refused,
        retried: counts.retried + outbox.failures() + others.retried,
      }
    },
  }
}

/** The rest is for attempts in progress when the queue counts as full. */
const nearlyFull = 0.9

/** Refuses logins while their records might be dropped (`logger.required`). */
export function onlyRecorded<Attempt, Result>(
  login: (attempt: Attempt) => Promise<Result>,
  { hasRoom }: Pick<LoginLog, 'hasRoom'>,
): (attempt: Attempt) => Promise<Result> {
  return async (attempt) => {
    if (!hasRoom()) throw new Fault('database', { reason: 'the login log is full' })
    return login(attempt)
  }
}

const counters = [
  ['written', 'Login records this process wrote to the table.'],
  ['dropped', 'Login records dropped because the queue was full.'],
  ['refused', 'Login records the table rejected, and unreadable entries of the stream.'],
  ['retried', 'Failed writes of login records that are retried.'],
] as const

/** Shows whether the login log keeps up, and what it dropped. */
export function addLoginLogMetrics(registry: MetricRegistry, read: () => LoginLogState): void {
  registry.readGauge({
    name: 'postern_login_log_queued',
    help: 'Login records held only in the memory of this process.',
    aggregate: 'sum',
    read: () => read().queued,
  })
  for (const [kind, help] of counters) {
    registry.readCounter({
      name: `postern_login_log_${kind}_total`,
      help,
      read: () => read()[kind],
    })
  }
}
