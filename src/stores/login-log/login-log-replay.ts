import type { LoginRecord } from '../../login/login-record.ts'
import type { RedisClient } from '../redis/redis.ts'
import type { LoginLogStream } from './login-log-stream.ts'

/** A replica that lags further behind than this has lost what the primary took. */
const recentMs = 10_000
const maxRecent = 1000

/**
 * Adds recent records again once Redis is back: a primary that died may not have passed on what it
 * acknowledged. The table takes each record once, however often it comes.
 */
export function replayAfterFailover(stream: LoginLogStream, redis: RedisClient): LoginLogStream {
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
