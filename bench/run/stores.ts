import { startPostgres } from '../../test/support/postgres-server.ts'
import { startRedis } from '../../test/support/redis-server.ts'

/** Where they are. */
export interface Stores {
  readonly redis: string
  readonly database: string
}

/** Redis and PostgreSQL of this run, started when Postern first needs them. */
export interface RunStores {
  open(): Promise<Stores>
  stop(): Promise<void>
}

export function createStores(): RunStores {
  const stops: (() => Promise<void>)[] = []
  let opened: Promise<Stores> | undefined

  async function start(): Promise<Stores> {
    const redis = await startRedis()
    stops.push(redis.stop)
    const postgres = await startPostgres()
    stops.push(postgres.stop)
    return { redis: redis.url, database: postgres.url }
  }

  return {
    open() {
      opened ??= start()
      return opened
    },
    async stop() {
      for (const stop of stops) await stop()
    },
  }
}
