import type { Database } from '../stores/database/database.ts'
import { openDatabase } from '../stores/database/open-database.ts'
import { createRedis, type RedisClient } from '../stores/redis/redis.ts'
import { createPolicyMemory } from './policy-memory.ts'
import type { SharedStores } from './shared-stores.ts'

/** Opens each store at its first use and keeps it. */
export function createSharedStores(): SharedStores & { close(): Promise<void> } {
  const databases = new StoreCache<Database>()
  const connections = new StoreCache<RedisClient>()
  return {
    policies: createPolicyMemory(),
    database: (options) => databases.get(options, () => openDatabase(options)),
    redis: (settings) =>
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
    async close() {
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
