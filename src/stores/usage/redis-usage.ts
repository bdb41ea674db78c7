import { DAY_MS, KEPT_DAYS } from '../../policy/usage/usage.ts'
import { loadScript, type RedisClient } from '../redis/redis.ts'
import {
  createUsageCollector,
  type EntryKind,
  entryKinds,
  mostNames,
  otherName,
  type StoredCount,
  type UsageBatch,
  type UsageStore,
} from './usage-entry.ts'

const addScript = loadScript(new URL('./lua/add-usage.lua', import.meta.url), { otherName })

/** Longer than a gateway goes on sending one batch while Redis is reachable now and then. */
const markMs = 3_600_000
/** Fields of one reply: reading must not block Redis for others. */
const fieldsPerScan = 1000

/** Counts in Redis: a hash for each day and kind, which expires by itself. */
export function createRedisUsage({ prefix, run, runScript }: RedisClient): UsageStore {
  const keyOf = (day: string, kind: EntryKind) => `${prefix}usage:${day}:${kind}`

  async function readHash(
    day: string,
    kind: EntryKind,
    take: (stored: StoredCount) => boolean,
  ): Promise<void> {
    const key = keyOf(day, kind)
    let cursor = '0'
    // HSCAN may return a field twice while others write to the hash.
    const seen = new Set<string>()
    // A hash that someone keeps adding to has an end here.
    let left = 4 * mostNames[kind]
    do {
      const [next, pairs] = await run((commands) =>
        commands.hscan(key, cursor, 'COUNT', fieldsPerScan),
      )
      for (let at = 0; at + 1 < pairs.length; at += 2, left--) {
        const [, count = '', last = ''] = /^(\d{1,16}) (\d{1,16})$/.exec(pairs[at + 1] ?? '') ?? []
        const name = pairs[at] ?? ''
        if (count === '' || seen.size === seen.add(name).size) continue
        if (!take({ kind, day, name, count: Number(count), last: Number(last) })) return
      }
      cursor = next
    } while (cursor !== '0' && left > 0)
  }

  return {
    async add({ id, day, at, entries }: UsageBatch) {
      const keys = [`${prefix}usage:batch:${id}`, ...entryKinds.map((kind) => keyOf(day, kind))]
      const values = entries.flatMap(({ kind, name, fallback = otherName, count }) => {
        return [entryKinds.indexOf(kind) + 2, name, fallback, count]
      })
      const most = entryKinds.map((kind) => mostNames[kind])
      await runScript(addScript, keys, [markMs, (KEPT_DAYS + 1) * DAY_MS, at, ...most, ...values])
    },

    async read(days, kinds) {
      const collector = createUsageCollector()
      for (const day of days) {
        await Promise.all(kinds.map((kind) => readHash(day, kind, collector.add)))
      }
      return collector.usage()
    },
  }
}
