import { Fault } from '../../kernel/errors.ts'
import type { LoginRecord } from '../../login/login-record.ts'
import { loadScript, type RedisClient } from '../redis/redis.ts'
import { recordField, type StreamEntry, toEntry } from './login-log-entry.ts'

/** The login records of every replica that are not in the table yet, in Redis. */
export type LoginLogStream = ReturnType<typeof createLoginLogStream>

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

const appendScript = loadScript(new URL('./lua/append-records.lua', import.meta.url), {
  recordField,
})
const doneScript = loadScript(new URL('./lua/delete-written.lua', import.meta.url))
const setAsideScript = loadScript(new URL('./lua/set-aside.lua', import.meta.url))
const forgetScript = loadScript(new URL('./lua/forget-consumers.lua', import.meta.url))

type RawEntries = readonly (readonly [string, readonly string[] | null])[]

export function createLoginLogStream(
  redis: RedisClient,
  { consumer, maxEntries, refuseWhenFull }: LoginLogStreamOptions,
) {
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
    /** Adds records; returns how many old ones were dropped. With `refuseWhenFull` it throws instead. */
    async append(records: readonly LoginRecord[]) {
      const texts = records.map((record) => JSON.stringify(record))
      const mode = refuseWhenFull ? 'refuse' : 'trim'
      const gone = await redis.runScript(appendScript, [stream], [maxEntries, mode, ...texts])
      if (gone === -1) throw new Fault('redis', { reason: `${stream} is full` })
      return Number(gone)
    },
    /** Takes entries that no consumer has. */
    async read() {
      const answer = (await withGroup((commands) =>
        commands.xreadgroup('GROUP', group, consumer, 'COUNT', batchSize, 'STREAMS', stream, '>'),
      )) as readonly (readonly [string, RawEntries])[] | null
      return (answer?.[0]?.[1] ?? []).map(toEntry)
    },
    /** Takes entries of consumers that are idle for too long, and deletes consumers that are gone. */
    async claim(idleMs: number, goneMs: number) {
      const [, entries] = (await withGroup((commands) =>
        commands.xautoclaim(stream, group, consumer, idleMs, '0-0', 'COUNT', batchSize),
      )) as unknown as readonly [string, RawEntries]
      await redis.runScript(forgetScript, [stream], [group, goneMs, ''])
      // Redis 6 gives nothing at all for entries that were trimmed meanwhile.
      return entries.filter((entry) => entry !== null).map(toEntry)
    },
    /** Takes entries off the stream: they are in the table. */
    async done(ids: readonly string[]) {
      if (ids.length === 0) return
      await redis.runScript(doneScript, [stream], [group, ...ids])
    },
    /** Takes an entry off the stream and keeps it apart, for an operator to look at. */
    async setAside({ id, fields }: StreamEntry, reason: string) {
      const content = JSON.stringify(fields).slice(0, maxSetAsideChars)
      await redis.runScript(
        setAsideScript,
        [stream, aside],
        [group, id, reason, content, maxSetAside],
      )
    },
    /** Forgets us, unless something of ours is left for others to claim. */
    async leave() {
      await redis.runScript(forgetScript, [stream], [group, 0, consumer])
    },
  }
}
