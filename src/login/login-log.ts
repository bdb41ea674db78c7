import { randomUUID } from 'node:crypto'
import type { RefusalKind } from '../errors.ts'
import type { Log } from '../log.ts'
import type { LoginRecord } from './login-record.ts'

/** How an attempt, or a logout, ended. */
export type AttemptOutcome = 'logged-in' | 'logged-out' | 'unavailable' | RefusalKind

/** Notes an attempt and returns at once; a store that is away never keeps a login waiting. */
export type RecordAttempt = (
  from: { readonly address: string; readonly userAgent: string },
  username: string,
  outcome: AttemptOutcome,
) => void

export interface LoginLog {
  readonly record: RecordAttempt
  /** Writes what is waiting, for at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>
  dropped(): number
}

export interface LoginLogParts {
  readonly insert: (records: readonly LoginRecord[]) => Promise<void>
  readonly log: Log
  readonly now: () => Date
  readonly capacity?: number
}

/** With `logger.enableddb` off, nothing is recorded (specification, Events). */
export const noLoginLog: LoginLog = {
  record: () => {},
  close: async () => {},
  dropped: () => 0,
}

const batchSize = 100
const firstPauseMs = 200
const longestPauseMs = 10_000
const breathMs = 20

/**
 * Records wait in memory, in order, and are written in batches by one writer:
 *
 *   idle     nothing waits; a record starts the writer
 *   writing  one batch is with the store; success goes on with the next batch, or to idle
 *   pausing  the store failed; the same batch is tried again after a pause that doubles
 *
 * A batch is tried again whole: the store knows each record by its attempt id and takes it once.
 * When the memory is full the oldest record goes, and is counted.
 */
export function createLoginLog({ insert, log, now, capacity = 10_000 }: LoginLogParts): LoginLog {
  const waiting: LoginRecord[] = []
  let writer: Promise<void> | undefined
  let droppedCount = 0
  let closing = false
  let gaveUp = false
  let endPause: (() => void) | undefined

  async function write(): Promise<void> {
    let pauseMs = firstPauseMs
    while (waiting.length > 0 && !gaveUp) {
      const batch = waiting.slice(0, batchSize)
      try {
        await insert(batch)
        for (const record of batch) if (waiting[0] === record) waiting.shift()
        pauseMs = firstPauseMs
        // Writing is work too: on the embedded store, requests wait while it is done.
        if (waiting.length > 0 && !closing) await pause(breathMs)
      } catch (error) {
        log.warn({ err: error, waiting: waiting.length }, 'login log: the store is away')
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

  return {
    record(from, username, outcome) {
      if (waiting.length >= capacity) {
        waiting.shift()
        droppedCount++
      }
      waiting.push(toRecord(from, username, outcome, now()))
      start()
    },
    async close(deadlineMs) {
      closing = true
      endPause?.()
      const deadline = new Promise<void>((resolve) => setTimeout(resolve, deadlineMs).unref())
      while (writer !== undefined && waiting.length > 0) {
        const ended = await Promise.race([writer.then(() => 'written'), deadline])
        if (ended !== 'written') break
      }
      await Promise.race([writer, deadline])
      gaveUp = true
      endPause?.()
      if (waiting.length > 0)
        log.error({ lost: waiting.length }, 'login log: records were not written')
    },
    dropped: () => droppedCount,
  }
}

const messages: Readonly<Partial<Record<AttemptOutcome, string>>> = {
  'logged-in': 'login succeeded',
  'logged-out': 'logout succeeded',
  unavailable: 'login was unavailable',
  'bad-login-request': 'malformed login request',
  'wrong-captcha': 'wrong captcha',
  'wrong-credentials': 'wrong username or password',
  'too-many-requests': 'too many attempts',
}

function toRecord(
  { address, userAgent }: Parameters<RecordAttempt>[0],
  username: string,
  outcome: AttemptOutcome,
  at: Date,
): LoginRecord {
  const good = outcome === 'logged-in' || outcome === 'logged-out'
  return {
    attemptId: randomUUID(),
    username,
    status: good ? '2' : '1',
    message: messages[outcome] ?? outcome,
    address,
    userAgent,
    at,
  }
}
