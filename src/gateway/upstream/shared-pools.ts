import { poolFor } from '../../wire/h2/pool-for.ts'
import type { Pool, PoolSettings } from '../../wire/pool.ts'
import { hasSameSettings } from './same-settings.ts'

/** A pool that targets of several generations may use. */
interface SharedPool extends Pool {
  /** The target needs the pool no more. Call it once. */
  readonly release: () => void
}

/** `isNew`: the origin leads to another server now, so connections to the one before must not be used. */
export type OpenPool = (
  origin: string,
  address: string | undefined,
  settings: PoolSettings,
  isNew: boolean,
) => SharedPool

interface UsedPool {
  readonly pool: Pool
  readonly origin: string
  readonly address: string | undefined
  readonly settings: PoolSettings
  users: number
}

/** A pool of its own, which drains when its target is retired. */
export const openOwnPool: OpenPool = (origin, address, settings) => {
  const pool = poolFor(origin, address, settings)
  return { ...pool, release: pool.drain }
}

/**
 * The pools of one upstream. A target that is created again with the same address and settings, after
 * others of its upstream have changed, gets the pool of its predecessor with all connections. A pool
 * without a target drains; requests of an older generation can still use it.
 */
export function createSharedPools(): OpenPool {
  const entries = new Set<UsedPool>()

  return (origin, address, settings, isNew) => {
    const wanted = { origin, address, settings }
    const known = find(entries, wanted)
    if (known !== undefined && isNew) entries.delete(known)
    const entry = (isNew ? undefined : known) ?? {
      ...wanted,
      pool: poolFor(origin, address, settings),
      users: 0,
    }
    entries.add(entry)
    entry.users++
    return {
      ...entry.pool,
      release() {
        entry.users--
        if (entry.users > 0) return
        entries.delete(entry)
        entry.pool.drain()
      },
    }
  }
}

function find(entries: ReadonlySet<UsedPool>, wanted: Omit<UsedPool, 'pool' | 'users'>) {
  for (const entry of entries) {
    const isThere = entry.origin === wanted.origin && entry.address === wanted.address
    if (isThere && hasSameSettings(entry.settings, wanted.settings)) return entry
  }
  return undefined
}
