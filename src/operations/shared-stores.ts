import type { Database } from '../stores/database/database.ts'
import { type DatabaseOptions, openDatabase } from '../stores/database/open-database.ts'
import { createRedis, type RedisClient, type RedisSettings } from '../stores/redis/redis.ts'
import { createPolicyMemory } from './policy-memory.ts'

/**
 * What a program that runs many commands, such as the console, keeps from one to the next. Their
 * `close` does nothing: the program closes them.
 */
export type SharedStores = Omit<ReturnType<typeof createSharedStores>, 'close'>

/** Opens each store at its first use and keeps it. */
export function createSharedStores() {
  const databases = new StoreCache<Database>()
  const connections = new StoreCache<RedisClient>()
  return {
    /** Policies that earlier questions were about. */
    policies: createPolicyMemory(),
    /** Throws as `openDatabase` does when it cannot be opened. */
    database: (options: DatabaseOptions) => databases.get(options, () => openDatabase(options)),
    /** A connection that reconnects by itself. Throws a Fault when the first attempt fails. */
    redis: (settings: RedisSettings) =>
      connections.get(settings, async () => {
        const redis = createRedis(settings)
        try {
          await redis.connect()
          return redis
        } catch (error) {
          await redis.close()
          throw error
        }
      }),
    async close(): Promise<void> {
      await Promise.all([databases.close(), connections.close()])
    },
  }
}

interface Closing {
  close(): Promise<void>
}

/** Open stores by their settings. A store that cannot be opened is tried again at its next use. */
class StoreCache<Thing extends Closing> {
  readonly #opened = new Map<string, Promise<Thing>>()

  async get(options: object, open: () => Promise<Thing>): Promise<Thing> {
    const key = JSON.stringify(options)
    const known = this.#opened.get(key)
    if (known !== undefined) return lent(await known)
    const opening = open()
    this.#opened.set(key, opening)
    try {
      return lent(await opening)
    } catch (error) {
      this.#opened.delete(key)
      throw error
    }
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#opened.values())
    this.#opened.clear()
    await Promise.allSettled(
      opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value.close()] : [])),
    )
  }
}

/** A view of a store without the right to close it. */
function lent<Thing extends Closing>(thing: Thing): Thing {
  return { ...thing, close: async () => {} }
}
