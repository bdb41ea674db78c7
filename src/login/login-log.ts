import { Fault } from '../errors.ts'
import type { Log } from '../log/log.ts'
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

export interface LoginLog {
  readonly record: RecordAttempt
  /** Whether the queue certainly has space for another record. */
  hasRoom(): boolean
  /** Writes what is queued, for at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>
  state(): LoginLogState
}

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
const firstPauseMs = 200
const longestPauseMs = 10_000
const breathMs = 20

/**
 * A record is published before its attempt is answered, so that a process killed after the answer has
 * not lost it. Records that cannot be published, or have no shared log, wait in memory, in order, for
 * one writer:
 *
 *   idle     the queue is empty; a record starts the writer
 *   writing  one batch is published, or else inserted; then the next batch, or idle
 *   pausing  both failed; the same batch is retried after a pause that doubles
 *
 * Retrying a whole batch is safe: the store stores each attempt ID once. A full queue drops its oldest
 * record, and counts it.
 */
export function createLoginLog(parts: LoginLogParts): LoginLog {
  const { insert, shared, log, now, capacity = 10_000 } = parts
  const waiting: LoginRecord[] = []
  const leaving = new Set<Promise<void>>()
  const counts = { written: 0, dropped: 0, refused: 0, retried: 0 }
  let writer: Promise<void> | undefined
  let closing = false
  let gaveUp = false
  let endPause: (() => void) | undefined

  function keep(record: LoginRecord): void {
    if (waiting.length >= capacity) {
      waiting.shift()
      counts.dropped++
    }
    waiting.push(record)
    start()
  }

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

  async function write(): Promise<void> {
    let pauseMs = firstPauseMs
    while (waiting.length > 0 && !gaveUp) {
      const batch = waiting.slice(0, batchSize)
      try {
        await passOn(batch)
        for (const record of batch) if (waiting[0] === record) waiting.shift()
        pauseMs = firstPauseMs
        // The embedded database writes on the event loop, so requests get a turn in between.
        if (waiting.length > 0 && !closing) await pause(breathMs)
      } catch (error) {
        counts.retried++
        log.warn({ err: error, waiting: waiting.length }, 'login log: store unreachable')
        await pause(closing ? firstPauseMs : pauseMs)
        pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      }
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  function start(): void {
    writer ??= write().finally(() => {
      writer = undefined
      if (waiting.length > 0 && !gaveUp) start()
    })
  }

  async function emptied(): Promise<void> {
    while (leaving.size > 0 || (writer !== undefined && !gaveUp)) {
      await Promise.all([...leaving, writer])
    }
  }

  return {
    record: (from, username, outcome) => send(toRecord(from, username, outcome, now())),
    hasRoom: () => waiting.length < capacity * nearlyFull,
    async close(deadlineMs) {
      const end = performance.now() + deadlineMs
      closing = true
      endPause?.()
      const { promise: deadline, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, deadlineMs)
      await Promise.race([emptied(), deadline])
      clearTimeout(timer)
      gaveUp = true
      endPause?.()
      if (waiting.length > 0) log.error({ lost: waiting.length }, 'login log: records not written')
      await shared?.close(Math.max(0, end - performance.now()))
    },
    state() {
      const others = shared?.state() ?? { written: 0, refused: 0, retried: 0 }
      return {
        queued: waiting.length + leaving.size,
        written: counts.written + others.written,
        dropped: counts.dropped,
        refused: counts.refused + others.refused,
        retried: counts.retried + others.retried,
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
