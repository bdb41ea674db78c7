import { hasTexts, readJson } from './policy-document.ts'
import { policyKeys } from './policy-keys.ts'
import { sequenceFunction } from './publish-script.ts'
import type { RedisClient } from './redis.ts'

/** What a replica says of itself, and how long ago. */
export interface ReplicaReport {
  readonly id: string
  readonly revision: string | undefined
  readonly sequence: number | undefined
  readonly at: string
  readonly ageSeconds: number
  /** It could not confirm its policy when it last tried, or its report is overdue. */
  readonly stale: boolean
  readonly version: string
}

/** What a replica knows when it reports. */
export interface OwnReport {
  readonly id: string
  readonly revision: string | undefined
  readonly sequence: number | undefined
  readonly stale: boolean
  readonly version: string
}

/** How often a replica reports, when that is overdue, and when it counts as gone. */
export const REPORT_EVERY_MS = 2000
const OVERDUE_MS = 2.5 * REPORT_EVERY_MS
const GONE_MS = 5 * REPORT_EVERY_MS

/** By the clock of Redis: those of the replicas may differ. KEYS: replica, index, highest. */
const reportScript = `
${sequenceFunction}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
redis.call('ZADD', KEYS[2], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
if tonumber(ARGV[4]) > sequenceIn(redis.pcall('GET', KEYS[3])) then
  redis.call('SET', KEYS[3], ARGV[4])
end
`

/** The replicas that report to one Redis. */
export interface Replicas {
  report(own: OwnReport): Promise<void>
  /** At an orderly end, so that nobody waits for a replica that is gone. */
  forget(id: string): Promise<void>
  /** Those that reported lately, by id. */
  list(): Promise<readonly ReplicaReport[]>
}

export function createReplicas(redis: RedisClient): Replicas {
  const keys = policyKeys(redis.prefix)

  return {
    async report({ id, ...own }) {
      const values = [id, JSON.stringify(own), GONE_MS, own.sequence ?? 0]
      await redis.run((commands) =>
        commands.eval(reportScript, 3, keys.replica(id), keys.replicas, keys.highest, ...values),
      )
    },
    async forget(id) {
      await redis.run((commands) => commands.del(keys.replica(id)))
      await redis.run((commands) => commands.zrem(keys.replicas, id))
    },
    async list() {
      const [seconds, micros] = await redis.run((commands) => commands.time())
      const now = Number(seconds) * 1000 + Number(micros) / 1000
      const index = await redis.run((commands) =>
        commands.zrange(keys.replicas, 0, '-1', 'WITHSCORES'),
      )
      const times = new Map<string, number>()
      for (let at = 0; at < index.length; at += 2) times.set(index[at] ?? '', Number(index[at + 1]))
      if (times.size === 0) return []

      const ids = [...times.keys()].sort()
      const texts = await redis.run((commands) => commands.mget(ids.map(keys.replica)))
      return ids.flatMap((id, at) => {
        const report = readReport(id, texts[at] ?? '', { now, at: times.get(id) ?? 0 })
        return report === undefined ? [] : [report]
      })
    },
  }
}

/** ECMA-262, Time Values: what lies beyond is no date. */
const latestTime = 8.64e15

function readReport(
  id: string,
  text: string,
  { now, at }: { readonly now: number; readonly at: number },
): ReplicaReport | undefined {
  const value = readJson(text)
  // A time that no clock shows is somebody else's entry.
  if (!hasTexts(value, ['version']) || !(Math.abs(at) <= latestTime)) return undefined
  const { revision, sequence, stale, version } = value
  const ageMs = Math.max(0, now - at)
  return {
    id,
    revision: typeof revision === 'string' ? revision : undefined,
    sequence: typeof sequence === 'number' ? sequence : undefined,
    at: new Date(at).toISOString(),
    ageSeconds: Math.round(ageMs / 100) / 10,
    stale: stale === true || ageMs > OVERDUE_MS,
    version: String(version),
  }
}
