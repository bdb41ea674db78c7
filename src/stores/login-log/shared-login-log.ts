import { randomUUID } from 'node:crypto'
import type { SharedLoginLog } from '../../login/login-log.ts'
import type { InsertRecords, LoginRecord } from '../../login/login-record.ts'
import type { RedisClient } from '../redis/redis.ts'
import { createLoginLogConsumer, type StreamLog } from './login-log-consumer.ts'
import { createLoginLogStream, type LoginLogStream } from './login-log-stream.ts'

interface SharedLoginLogParts {
  readonly redis: RedisClient
  readonly insert: InsertRecords
  readonly log: StreamLog
  readonly refuseWhenFull: boolean
}

/** Some 60 MB in Redis, and hours of an attack. */
const maxEntries = 100_000

/** Keeps records in a stream that all replicas share, and takes them from there to the table. */
export function createSharedLoginLog(parts: SharedLoginLogParts): SharedLoginLog {
  const { redis, insert, log, refuseWhenFull } = parts
  const options = { consumer: randomUUID(), maxEntries, refuseWhenFull }
  const stream = replayAfterFailover(createLoginLogStream(redis, options), redis)
  const { wake, close, state } = createLoginLogConsumer({ stream, insert, log })

  return {
    async publish(records) {
      const gone = await stream.append(records)
      wake()
      return gone
    },
    close,
    state,
  }
}

/** A replica that lags further behind than this has lost what the primary took. */
const recentMs = 10_000
const maxRecent = 1000

/**
 * Adds recent records again once Redis is back: a primary that died may not have passed on what it
 * acknowledged. The table takes each record once, however often it comes.
 */
function replayAfterFailover(stream: LoginLogStream, redis: RedisClient): LoginLogStream {
  let recent: { readonly at: number; readonly record: LoginRecord }[] = []
  /** When Redis first failed, or opened a new connection, since the last repetition. */
  let doubtfulSince: number | undefined
  redis.onReady(doubt)

  function doubt(): void {
    doubtfulSince ??= performance.now()
  }

  function keep(records: readonly LoginRecord[]): void {
    const at = performance.now()
    const added = records.map((record) => ({ at, record }))
    recent = [...recent.filter((one) => one.at > at - recentMs), ...added].slice(-maxRecent)
  }

  async function noticing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      doubt()
      throw error
    }
  }

  /** Before anything else is done with a Redis that may be another one than before. */
  async function repeat(): Promise<void> {
    if (doubtfulSince === undefined) return
    const from = doubtfulSince - recentMs
    const again = recent.filter(({ at }) => at > from).map(({ record }) => record)
    doubtfulSince = undefined
    try {
      if (again.length > 0) await stream.append(again)
    } catch (error) {
      doubtfulSince = from + recentMs
      throw error
    }
  }

  return {
    ...stream,
    async append(records) {
      await repeat()
      const gone = await noticing(() => stream.append(records))
      keep(records)
      return gone
    },
    async read() {
      await repeat()
      return noticing(stream.read)
    },
    async claim(idleMs, goneMs) {
      await repeat()
      return noticing(() => stream.claim(idleMs, goneMs))
    },
  }
}
