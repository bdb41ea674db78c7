import { randomUUID } from 'node:crypto'
import type { SharedLoginLog } from '../../login/login-log.ts'
import type { InsertRecords } from '../../login/login-record.ts'
import type { RedisClient } from '../redis/redis.ts'
import { createLoginLogConsumer, type StreamLog } from './login-log-consumer.ts'
import { replayAfterFailover } from './login-log-replay.ts'
import { createLoginLogStream } from './login-log-stream.ts'

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
