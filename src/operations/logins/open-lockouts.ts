import type { StoredLockout } from '../../login/lockouts/lockout.ts'
import { type OpenedLockout, openLockout } from '../../login/lockouts/sealed-lockout.ts'
import { type AuditEntry, recordChange } from '../../stores/audit/audit.ts'
import { type Database, requireTables } from '../../stores/database/database.ts'
import { type ClearedKeys, createDatabaseLockouts } from '../../stores/limits/database-lockouts.ts'
import { createRedisLockouts } from '../../stores/limits/redis-lockouts.ts'
import { createLastingKey } from '../../token/derived-keys.ts'
import { withExistingDatabase } from '../configured-database.ts'
import { withRedis } from '../configured-redis.ts'
import type { Surroundings } from '../context.ts'
import { configuredKeys, tokenSettings } from '../tokens/configured-keys.ts'
import { redisOf } from '../tokens/revoke-tokens.ts'

/** An open lock-out, and whom it refuses. */
export interface OpenLockout extends OpenedLockout {
  readonly key: string
  readonly sinceMs: number
  readonly untilMs: number
}

/** The lock-outs of all gateways. */
interface Lockouts {
  readonly database: Database
  /** Newest first. */
  readonly open: readonly OpenLockout[]
  /** Lock-outs that were recorded with other keys; gateways with the configured ones ignore them. */
  readonly unreadable: number
  /** The secret that the keys of counts are derived from. */
  readonly digestKey: string
  /** Whether gateways share their counts, in Redis. */
  readonly shared: boolean
  /** Ends lock-outs and records that. Returns the keys of those that were open. */
  clear(keys: ClearedKeys, entry: AuditEntry): Promise<readonly string[]>
}

/** Reads the lock-outs from the configured store, runs `work` and closes everything. */
export async function withLockouts<Result>(
  file: string | undefined,
  io: Surroundings,
  work: (lockouts: Lockouts) => Promise<Result>,
): Promise<Result> {
  const settings = tokenSettings(file, io)
  const keys = await configuredKeys(settings)
  const secret = (purpose: string) => createLastingKey(() => keys, purpose)()
  return withExistingDatabase(settings, (database) =>
    withStore(settings, database, async ({ list, ...store }) => {
      const stored = await list()
      const open = stored.flatMap((each) => opened(secret('lockout'), each))
      return work({
        ...store,
        database,
        open: open.toSorted((one, other) => other.sinceMs - one.sinceMs),
        unreadable: stored.length - open.length,
        digestKey: secret('throttle'),
      })
    }),
  )
}

interface LockoutStore extends Pick<Lockouts, 'clear' | 'shared'> {
  list(): Promise<readonly StoredLockout[]>
}

async function withStore<Result>(
  { config, shared }: ReturnType<typeof tokenSettings>,
  database: Database,
  work: (store: LockoutStore) => Promise<Result>,
): Promise<Result> {
  const settings = redisOf(config)
  if (settings === undefined) return work({ ...createDatabaseLockouts(database), shared: false })
  return withRedis(settings, shared, (redis) => {
    const { list, clear } = createRedisLockouts(redis)
    return work({
      list,
      shared: true,
      async clear({ keys, related }, entry) {
        requireTables(await database.shapes(), 'postern_audit')
        const ended = await clear([...new Set([...keys, ...related])])
        if (ended.length > 0) await recordChange(database, entry)
        return ended
      },
    })
  })
}

function opened(secret: string, stored: StoredLockout): readonly OpenLockout[] {
  const { key, sinceMs, untilMs } = stored
  const content = openLockout(secret, stored)
  return content === undefined ? [] : [{ ...content, key, sinceMs, untilMs }]
}
