import { createPolling } from '../../background/polling.ts'
import {
  type ClockFacts,
  certainOffset,
  clockOffset,
  offsetInWords,
} from '../../fleet/clock-offset.ts'
import type { Database } from '../../stores/database/database.ts'
import { databaseClock } from '../../stores/database/database-clock.ts'
import type { RedisClient } from '../../stores/redis/redis.ts'
import type { Assembly } from '../assembly.ts'
import { clock, type ServeOptions } from '../options.ts'

/** Soon enough for an operator, and nothing beside the reports to the fleet. */
const everyMs = 10_000

/**
 * Compares the clock of this machine with that of Redis, or without Redis with that of the database:
 * a gateway whose clock is wrong refuses valid tokens and ends grants early, and nothing else says
 * why. An outage of the store does not change the last comparison.
 */
export function watchClock(
  { log, now = clock }: ServeOptions,
  { redis, database }: { readonly redis: RedisClient | undefined; readonly database: Database },
  assembly: Assembly,
): void {
  const other = otherClock(redis, database)
  let last: ClockFacts | undefined
  assembly.add({
    details: { clock: () => last ?? null },
    facts: () => (last === undefined ? {} : { clock: last }),
  })
  if (other === undefined) return
  const { source, read } = other
  let wasOff = false

  async function compare(): Promise<void> {
    const askedAt = now() * 1000
    const theirs = await read().catch(() => undefined)
    const answeredAt = now() * 1000
    // A clock that was set meanwhile says nothing.
    if (theirs === undefined || answeredAt < askedAt) return
    const offset = clockOffset({ theirs, askedAt, answeredAt })
    const { aheadMs, withinMs } = offset
    last = { aheadMs: Math.round(aheadMs), withinMs: Math.ceil(withinMs), source }
    const words = offsetInWords(offset, source)
    const fields = { aheadSeconds: Math.round(certainOffset(offset)) / 1000, source }
    if (words !== undefined && !wasOff) log.warn(fields, 'clock offset too large')
    if (words === undefined && wasOff) log.info(fields, 'clock offset normal again')
    wasOff = words !== undefined
  }

  const polling = createPolling(compare, everyMs)
  void polling.now()
  assembly.add({
    close: polling.close,
    metrics: (registry) =>
      registry.readGauge({
        name: 'postern_clock_offset_seconds',
        help: 'How far the clock is ahead of Redis, or of the database without Redis; below 0: behind. The round trip is in favor of 0. Missing before the first comparison.',
        aggregate: 'max',
        read: () => (last === undefined ? undefined : certainOffset(last) / 1000),
      }),
  })
}

function otherClock(redis: RedisClient | undefined, database: Database) {
  if (redis !== undefined) {
    const read = async () => {
      const [seconds, micros] = await redis.run((commands) => commands.time())
      return Number(seconds) * 1000 + Number(micros) / 1000
    }
    return { source: 'Redis', read } as const
  }
  // The embedded database has the clock of this machine.
  if (database.kind === 'embedded') return undefined
  const read = async () => (await databaseClock(database))()
  return { source: 'the database', read } as const
}
