import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { LockoutRecord } from '../../src/login/lockouts/lockout.ts'
import { createDatabaseLockouts } from '../../src/stores/limits/database-lockouts.ts'
import { createMemoryCounters } from '../../src/stores/limits/memory-counters.ts'
import { createRedisCounters } from '../../src/stores/limits/redis-counters.ts'
import { createRedisLockouts } from '../../src/stores/limits/redis-lockouts.ts'
import { connectRedis, testPrefix } from '../support/redis-client.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'
import { type RunningDatabase, testDatabases } from './test-databases.ts'

function record(key: string, leftMs = 60_000): LockoutRecord {
  return { key, kind: 'account', sealed: `sealed-${key}`, leftMs }
}

const keysOf = (found: readonly { readonly key: string }[]) =>
  found.map(({ key }) => key).toSorted()

const entry = {
  actor: { kind: 'operator', name: 'ada', origin: 'host' },
  action: 'login.unlock',
  subject: 'alice',
} as const

describe.each(testDatabases())('lock-outs in $name', ({ start }) => {
  let server: RunningDatabase
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.stop())

  async function audited(database: Awaited<ReturnType<RunningDatabase['fresh']>>) {
    const { rows } = await sql<{ subject: string }>`select subject from postern_audit`.execute(
      database.db,
    )
    return rows.map(({ subject }) => subject)
  }

  test('are listed while they are open', async () => {
    const lockouts = createDatabaseLockouts(await server.fresh())
    const { add } = lockouts.recordsOf('one')

    await add([record('a'), record('b', 1)])

    await until(async () => (await lockouts.list()).length === 1)
    const [found] = await lockouts.list()
    expect(found).toMatchObject({ key: 'a', kind: 'account', sealed: 'sealed-a' })
    expect((found?.untilMs ?? 0) - (found?.sinceMs ?? 0)).toBeGreaterThanOrEqual(60_000)
    expect(Math.abs((found?.sinceMs ?? 0) - Date.now())).toBeLessThan(60_000)
    expect(await lockouts.secondsLeft('a')).toBeGreaterThan(1)
    expect(await lockouts.secondsLeft('a')).toBeLessThanOrEqual(60)
    expect(await lockouts.secondsLeft('b')).toBe(0)
  })

  test('are ended for every process that has one, with an audit row', async () => {
    const database = await server.fresh()
    const lockouts = createDatabaseLockouts(database)
    const [one, other] = [lockouts.recordsOf('one'), lockouts.recordsOf('other')]
    await one.add([record('a'), record('b')])
    await other.add([record('a', 90_000)])
    expect(keysOf(await lockouts.list())).toEqual(['a', 'b'])

    expect(await lockouts.clear({ keys: ['a', 'unknown'], related: ['c'] }, entry)).toEqual(['a'])
    expect(await lockouts.secondsLeft('a')).toBe(0)
    // Begins anew at once in one process, before the other has seen the end of its own.
    const forgotten: string[] = []
    await one.takeCleared?.((key) => void forgotten.push(`one ${key}`))
    await one.add([record('a')])
    await other.takeCleared?.((key) => void forgotten.push(`other ${key}`))
    await one.takeCleared?.((key) => void forgotten.push(`one again ${key}`))

    expect(forgotten).toEqual(['one a', 'one c', 'other a', 'other c'])
    expect(keysOf(await lockouts.list())).toEqual(['a', 'b'])
    expect(await audited(database)).toEqual(['alice'])
    expect(await lockouts.clear({ keys: ['unknown'], related: ['b'] }, entry)).toEqual([])
    expect(await audited(database)).toEqual(['alice'])
  })

  test('go with the process that counts them', async () => {
    const lockouts = createDatabaseLockouts(await server.fresh())
    await lockouts.recordsOf('one').add([record('a')])
    await lockouts.recordsOf('other').add([record('b')])

    await lockouts.recordsOf('one').leave?.()

    expect(keysOf(await lockouts.list())).toEqual(['b'])
  })

  test('are at most 10,000, and rows that ended are deleted', async () => {
    const database = await server.fresh()
    const lockouts = createDatabaseLockouts(database)
    const { add } = lockouts.recordsOf('one')
    await add([record('old', 0)])

    await add(Array.from({ length: 10_005 }, (_, at) => record(`key ${at}`, 60_000 + at)))

    const { rows } = await sql<{ many: string }>`
      select count(*) as many from postern_login_lockout`.execute(database.db)
    expect(rows).toEqual([{ many: '10000' }])
    expect(keysOf(await lockouts.list())).not.toContain('key 4')
  })

  test('say how to create their table', async () => {
    const database = await server.fresh()
    await sql`drop table postern_login_lockout`.execute(database.db)
    const lockouts = createDatabaseLockouts(database)

    const message =
      'table postern_login_lockout is missing, or this database user may not read it: run "postern db migrate", or grant the table'
    await expect(lockouts.list()).rejects.toThrow(message)
    await expect(lockouts.recordsOf('one').add([record('a')])).rejects.toThrow(message)
  })
})

describe('lock-outs in Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  beforeEach(async () => {
    await redis.client.flushall()
  })
  afterAll(() => redis.stop())

  const limit = { hits: 1, windowSeconds: 60, lockoutSeconds: 60, maxLockoutSeconds: 600 }

  async function opened() {
    const client = await connectRedis(redis)
    const counters = createRedisCounters({
      ...{ redis: client, local: createMemoryCounters(), onUnreachable: () => {} },
    })
    const lockouts = createRedisLockouts(client)
    async function lockOut(key: string): Promise<void> {
      for (let hit = 0; hit < 2; hit++) await counters.hit([{ key, limit }])
      await lockouts.records.add([record(key)])
    }
    return { counters, lockouts, lockOut }
  }

  test('are listed while the count is locked out', async () => {
    const { lockouts, lockOut } = await opened()
    await lockOut('a')
    await lockOut('b')
    await lockouts.records.add([record('without a count'), record('over', 1)])
    await redis.client.del(`${testPrefix}b`)

    const found = await lockouts.list()

    expect(found).toEqual([
      {
        ...{ key: 'a', kind: 'account', sealed: 'sealed-a' },
        ...{ sinceMs: expect.any(Number), untilMs: expect.any(Number) },
      },
    ])
    expect((found[0]?.untilMs ?? 0) - (found[0]?.sinceMs ?? 0)).toBeGreaterThan(50_000)
  })

  test('are ended with their counts', async () => {
    const { counters, lockouts, lockOut } = await opened()
    await lockOut('a')
    await lockOut('b')
    await counters.hit([{ key: 'counted', limit }])

    expect(await lockouts.clear(['a', 'counted', 'unknown'])).toEqual(['a'])

    expect(keysOf(await lockouts.list())).toEqual(['b'])
    expect((await counters.hit([{ key: 'a', limit }])).lockedOutSeconds).toBe(0)
    expect((await counters.hit([{ key: 'counted', limit }])).lockedOutSeconds).toBe(0)
    expect((await counters.hit([{ key: 'b', limit }])).lockedOutSeconds).toBe(60)
  })

  test('are at most 10,000, and no key stays forever', async () => {
    const { lockouts } = await opened()
    await lockouts.records.add([record('old', 1)])

    for (let batch = 0; batch < 21; batch++) {
      const keys = Array.from({ length: 500 }, (_, at) => `key ${batch * 500 + at}`)
      await lockouts.records.add(keys.map((key) => record(key)))
    }

    const [zset, hash] = ['login:lockouts', 'login:lockouts:records'].map(
      (key) => `${testPrefix}${key}`,
    ) as [string, string]
    expect(await redis.client.zcard(zset)).toBe(10_000)
    expect(await redis.client.hlen(hash)).toBe(10_000)
    expect(await redis.client.hexists(hash, 'old')).toBe(0)
    expect(await redis.client.pttl(zset)).toBeGreaterThan(0)
    expect(await redis.client.pttl(hash)).toBeGreaterThan(0)
  })

  test('survive a record that is not ours', async () => {
    const { lockouts, lockOut } = await opened()
    await lockOut('a')
    await redis.client.hset(`${testPrefix}login:lockouts:records`, 'a', 'nonsense')

    expect(await lockouts.list()).toMatchObject([{ key: 'a', kind: '', sealed: '' }])
  })
})
