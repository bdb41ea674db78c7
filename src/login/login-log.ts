import { Fault } from '../errors.ts'
import type { Log } from '../log/log.ts'
import {
  type AttemptOrigin,
  type AttemptOutcome,
  type InsertRecords,
  type LoginRecord,
  toRecord,
} from './login-record.ts'

/** Notes an attempt and returns at once; a store that is away never keeps a login waiting. */
export type RecordAttempt = (from: AttemptOrigin, username: string, outcome: AttemptOutcome) => void

/** What became of the records of this process so far. */
export interface LoginLogState {
  /** In this process's memory, written nowhere else yet. */
  readonly queued: number
  /** New rows in the table. */
  readonly written: number
  /** Given up for want of room. */
  readonly dropped: number
  /** Refused by the table, or unreadable, and set aside. */
  readonly refused: number
  /** Failed tries, after each of which the same batch was tried again. */
  readonly retried: number
}

export interface LoginLog {
  readonly record: RecordAttempt
  /** Whether another record surely finds a place. */
  hasRoom(): boolean
  /** Passes on what is waiting, for at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>
  state(): LoginLogState
}

/** What outlives this process, and takes records to the table by itself. */
export interface SharedLoginLog {
  /** Hands records over; returns how many older ones had to go. Fails at once while it is away. */
  publish(records: readonly LoginRecord[]): Promise<number>
  /** Takes to the table what is there, for at most `deadlineMs`. */
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
 * A record is published in the moment it is made, so that it is on its way before its attempt is
 * answered, and a process that is killed after the answer has not lost it. What cannot be
 * published, or has nowhere to be, waits in memory, in order, and is passed on in batches by one
 * writer:
 *
 *   idle     nothing waits; a record starts the writer
 *   writing  one batch is published, or else inserted; then the next batch, or idle
 *   pausing  neither was possible; the same batch is tried again after a pause that doubles
 *
 * A batch is tried again whole: the store knows each record by its attempt id and takes it once.
 * When the memory is full the oldest record goes, and is counted.
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
        // The table takes it as well.
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
        // Writing is work too: on the embedded store, requests wait while it is done.
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

/** Where there is no room, attempts that are under way already still have to find some. */
const nearlyFull = 0.9

/** A login that is not begun while its record might find no place (`logger.required`). */
export function onlyRecorded<Attempt, Result>(
  login: (attempt: Attempt) => Promise<Result>,
  { hasRoom }: Pick<LoginLog, 'hasRoom'>,
): (attempt: Attempt) => Promise<Result> {
  return async (attempt) => {
    if (!hasRoom()) throw new Fault('database', { reason: 'the login log is full' })
    return login(attempt)
  }
}
