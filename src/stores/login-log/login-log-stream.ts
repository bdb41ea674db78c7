import { Fault } from '../../errors.ts'
import type { LoginRecord } from '../../login/login-record.ts'
import type { RedisClient } from '../redis/redis.ts'
import { recordField, type StreamEntry, toEntry } from './login-log-entry.ts'

/** The login records of every replica that are not in the table yet, in Redis. */
export interface LoginLogStream {
  /** Adds records; returns how many old ones were dropped. With `refuseWhenFull` it throws instead. */
  append(records: readonly LoginRecord[]): Promise<number>
  /** Takes entries that no consumer has. */
  read(): Promise<readonly StreamEntry[]>
  /** Takes entries of consumers that are idle for too long, and deletes consumers that are gone. */
  claim(idleMs: number, goneMs: number): Promise<readonly StreamEntry[]>
  /** Takes entries off the stream: they are in the table. */
  done(ids: readonly string[]): Promise<void>
  /** Takes an entry off the stream and keeps it apart, for an operator to look at. */
  setAside(entry: StreamEntry, reason: string): Promise<void>
  /** Forgets us, unless something of ours is left for others to claim. */
  leave(): Promise<void>
}

interface LoginLogStreamOptions {
  /** Unique among the replicas. */
  readonly consumer: string
  readonly maxEntries: number
  /** Whether a full stream takes nothing more, instead of losing its oldest entries. */
  readonly refuseWhenFull: boolean
}

const group = 'writers'
const batchSize = 100
const maxSetAside = 10_000
const maxSetAsideChars = 16_384

/** In one step, so that how many entries went is known. KEYS: stream. */
const appendScript = `
local most = tonumber(ARGV[1])
if ARGV[2] == 'refuse' and redis.call('XLEN', KEYS[1]) + #ARGV - 2 > most then return -1 end
for at = 3, #ARGV do redis.call('XADD', KEYS[1], '*', '${recordField}', ARGV[at]) end
return redis.call('XTRIM', KEYS[1], 'MAXLEN', most)
`

/** In one step: an entry that is acknowledged and not deleted would stay forever. KEYS: stream. */
const doneScript = `
redis.call('XACK', KEYS[1], ARGV[1], unpack(ARGV, 2))
redis.call('XDEL', KEYS[1], unpack(ARGV, 2))
`

/** KEYS: stream, those set aside. */
const setAsideScript = `
redis.call('XADD', KEYS[2], 'MAXLEN', ARGV[5], '*', 'entry', ARGV[2], 'reason', ARGV[3], 'fields', ARGV[4])
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
redis.call('XDEL', KEYS[1], ARGV[2])
`

/**
 * Forgets consumers that have nothing and have not asked for so long; in one step, since forgetting
 * one that has something loses it. KEYS: stream. ARGV: group, time, the only one meant or nothing.
 */
const forgetScript = `
for _, fields in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local consumer = {}
  for at = 1, #fields, 2 do consumer[fields[at]] = fields[at + 1] end
  local meant = ARGV[3] == '' or ARGV[3] == consumer.name
  if meant and consumer.pending == 0 and consumer.idle >= tonumber(ARGV[2]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], consumer.name)
  end
end
`

type RawEntries = readonly (readonly [string, readonly string[] | null])[]

export function createLoginLogStream(
  redis: RedisClient,
  { consumer, maxEntries, refuseWhenFull }: LoginLogStreamOptions,
): LoginLogStream {
  const stream = `${redis.prefix}login:log`
  const aside = `${redis.prefix}login:log:aside`

  /** A Redis that lost its data, or never had any, has no group: create it and retry. */
  async function withGroup<T>(command: Parameters<typeof redis.run<T>>[0]): Promise<T> {
    try {
      return await redis.run(command)
    } catch (error) {
      if (!(error instanceof Fault) || !error.message.includes('NOGROUP')) throw error
    }
    // From the first entry on: what was added before there was a group counts as well.
    await redis
      .run((commands) => commands.xgroup('CREATE', stream, group, '0', 'MKSTREAM'))
      .catch((error: unknown) => {
        if (!(error instanceof Fault) || !error.message.includes('BUSYGROUP')) throw error
      })
    return redis.run(command)
  }

  return {
    async append(records) {
      const texts = records.map((record) => JSON.stringify(record))
      const mode = refuseWhenFull ? 'refuse' : 'trim'
      const gone = await redis.runScript(appendScript, [stream], [maxEntries, mode, ...texts])
      if (gone === -1) throw new Fault('redis', { reason: `${stream} is full` })
      return Number(gone)
    },
    async read() {
      const answer = (await withGroup((commands) =>
        commands.xreadgroup('GROUP', group, consumer, 'COUNT', batchSize, 'STREAMS', stream, '>'),
      )) as readonly (readonly [string, RawEntries])[] | null
      return (answer?.[0]?.[1] ?? []).map(toEntry)
    },
    async claim(idleMs, goneMs) {
      const [, entries] = (await withGroup((commands) =>
        commands.xautoclaim(stream, group, consumer, idleMs, '0-0', 'COUNT', batchSize),
      )) as unknown as readonly [string, RawEntries]
      await redis.runScript(forgetScript, [stream], [group, goneMs, ''])
      // Redis 6 gives nothing at all for entries that were trimmed meanwhile.
      return entries.filter((entry) => entry !== null).map(toEntry)
    },
    async done(ids) {
      if (ids.length === 0) return
      await redis.runScript(doneScript, [stream], [group, ...ids])
    },
    async setAside({ id, fields }, reason) {
      const content = JSON.stringify(fields).slice(0, maxSetAsideChars)
      await redis.runScript(
        setAsideScript,
        [stream, aside],
        [group, id, reason, content, maxSetAside],
      )
    },
    async leave() {
      await redis.runScript(forgetScript, [stream], [group, 0, consumer])
    },
  }
}
