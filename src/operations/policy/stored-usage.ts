import type { Usage } from '../../policy/usage/usage.ts'
import { createRedisUsage } from '../../stores/usage/redis-usage.ts'
import type { EntryKind, UsageStore } from '../../stores/usage/usage-entry.ts'
import { withRedis } from '../configured-redis.ts'
import type { Surroundings } from '../context.ts'
import { type PolicySettings, unavailable } from '../policy-settings.ts'

/**
 * Reads what the gateways of this configuration counted on these days, of these kinds: from Redis, or without it from the database.
 * Throws a Fault when that is unreachable, or when no gateway counted anything on these days.
 */
export async function readUsage(
  settings: PolicySettings,
  { days, kinds }: { readonly days: readonly string[]; readonly kinds: readonly EntryKind[] },
  io: Surroundings,
): Promise<Usage> {
  const read = (store: UsageStore) => store.read(days, ['observed', ...kinds])
  const { config } = settings
  const isInRedis = config === undefined || config.redis.url !== undefined
  const usage = isInRedis
    ? await withRedis(settings.redis(), settings.shared, (redis) => read(createRedisUsage(redis)))
    : // The database drivers are loaded only where they are needed.
      await (await import('./database-usage.ts')).readDatabaseUsage(settings, read, io)
  if (usage.observed.length > 0) return usage
  const where = isInRedis ? 'Redis' : 'the database'
  const why =
    config?.policy.usage === false
      ? 'policy.usage is false in this configuration'
      : `no gateway has written policy usage to ${where} since ${days[0]}: gateways write it every minute`
  return unavailable(why)
}
