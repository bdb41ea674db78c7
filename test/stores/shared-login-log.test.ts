import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '../../src/log/log.ts'
import { createLoginLog } from '../../src/login/login-log.ts'
import type { InsertRecords, LoginRecord } from '../../src/login/login-record.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import {
  createLoginLogConsumer,
  type LoginLogConsumerParts,
} from '../../src/stores/login-log/login-log-consumer.ts'
import {
  createLoginLogStream,
  type LoginLogStream,
} from '../../src/stores/login-log/login-log-stream.ts'
import { createLoginLogTable } from '../../src/stores/login-log/login-log-table.ts'
import { createSharedLoginLog } from '../../src/stores/login-log/shared-login-log.ts'
import { createRedis, type RedisClient } from '../../src/stores/redis/redis.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

const prefix = '{test}:'
const key = `${prefix}login:log`
const aside = `${key}:aside`
const limits = { poolSize: 4, connectTimeoutMs: 1000, statementTimeoutMs: 2000, directory: '' }
const quick = { pollMs: 40, idleMs: 150, goneMs: 400 }

let server: RedisServer
let postgres: PostgresServer
let redis: RedisClient
let database: Database
let logged: string[]

beforeAll(async () => {
  server = await startRedis()
  postgres = await startPostgres()
  database = await openDatabase({ ...limits, url: postgres.url, onUnreachable: () => {} })
})
afterAll(async () => {
  await database.close()
  await postgres.stop()
  await server.stop()
})
beforeEach(async () => {
  await server.client.flushall()
  await postgres.query('truncate sys_login_log, postern_login_attempt')
  redis = await client()
  logged = []
})

async function client(): Promise<RedisClient> {
  const timeouts = { connectTimeoutMs: 1000, commandTimeoutMs: 300 }
  const opened = createRedis({ url: server.url, prefix, ...timeouts })
  onTestFinished(opened.close)
  await opened.connect()
  return opened
}

const log = createLog('info', { write: (line) => void logged.push(line) })
const insert: InsertRecords = (records) => createLoginLogTable(database).insert(records)
const away: InsertRecords = () => Promise.reject(new Error('away'))

function stream(options: Partial<Parameters<typeof createLoginLogStream>[1]> = {}): LoginLogStream {
  const defaults = { consumer: randomUUID(), maxEntries: 10_000, refuseWhenFull: false }
  return createLoginLogStream(redis, { ...defaults, ...options })
}

function consume(parts: Partial<LoginLogConsumerParts> = {}) {
  const consumer = createLoginLogConsumer({ stream: stream(), insert, log, ...quick, ...parts })
  onTestFinished(() => consumer.close(1000))
  return consumer
}

function record(username: string, change: Partial<LoginRecord> = {}): LoginRecord {
  return {
    ...{ attemptId: randomUUID(), username, status: '1', message: 'wrong captcha' },
    ...{ address: '192.0.2.7', userAgent: 'curl/8.0', at: new Date() },
    ...change,
  }
}

const names = (count: number) => Array.from({ length: count }, (_, at) => `user ${at}`)

async function written(): Promise<string[]> {
  const query = 'select username from sys_login_log order by id'
  return (await postgres.query<{ username: string }>(query)).map(({ username }) => username)
}

/** What is in the stream, and what of it somebody has taken. */
async function left(): Promise<readonly [number, number]> {
  const length = await server.client.xlen(key)
  const pending = await server.client.xpending(key, 'writers').catch(() => [0])
  return [length, Number(pending[0])]
}

describe('records in the stream', () => {
  test('are written in their order and leave nothing behind', async () => {
    await stream().append(names(350).map((name) => record(name)))

    const consumer = consume()

    await until(async () => (await written()).length === 350)
    expect(await written()).toEqual(names(350))
    await until(async () => (await left()).join() === '0,0')
    expect(consumer.state()).toEqual({ written: 350, refused: 0, retried: 0 })
  })

  test('are shared by the replicas, each record written by one of them', async () => {
    const consumers = [consume(), consume(), consume()]

    for (const name of names(300)) {
      await stream().append([record(name)])
      for (const { wake } of consumers) wake()
    }

    await until(async () => (await left()).join() === '0,0')
    expect((await written()).sort()).toEqual(names(300).sort())
    const total = consumers.reduce((sum, { state }) => sum + state().written, 0)
    expect(total).toBe(300)
  })

  test('that came twice under one attempt id are one row', async () => {
    const twice = names(20).map((name) => record(name))
    await stream().append(twice)
    await stream().append(twice.toReversed())

    consume()

    await until(async () => (await left()).join() === '0,0')
    expect(await written()).toEqual(names(20))
  })

  test('stay there while the table is away, and are written when it is back', async () => {
    await stream().append(names(150).map((name) => record(name)))
    let isUnreachable = true

    const consumer = consume({
      insert: (records) => (isUnreachable ? away(records) : insert(records)),
    })
    await until(() => consumer.state().retried > 2)

    expect((await left())[0]).toBe(150)
    isUnreachable = false
    await until(async () => (await left()).join() === '0,0')
    expect(await written()).toEqual(names(150))
    expect(logged.filter((line) => line.includes('stay in the stream'))).toHaveLength(1)
  })

  test('that a dead replica had taken are written by another, and it is forgotten', async () => {
    const dead = stream({ consumer: 'dead' })
    await dead.append(names(30).map((name) => record(name)))
    await dead.read()

    consume()

    await until(async () => (await left()).join() === '0,0')
    expect(await written()).toEqual(names(30))
    await until(async () => {
      const consumers = await server.client.xinfo('CONSUMERS', key, 'writers')
      return !JSON.stringify(consumers).includes('dead')
    })
  })

  test('that are in the table, but could not be taken off the stream, are not written again', async () => {
    const own = stream()
    await own.append(names(10).map((name) => record(name)))
    let failures = 3

    consume({
      stream: {
        ...own,
        done: (ids) => (failures-- > 0 ? Promise.reject(new Error('cut')) : own.done(ids)),
      },
    })

    await until(async () => (await left()).join() === '0,0')
    expect(await written()).toEqual(names(10))
  })

  test('survive that their group is lost', async () => {
    const consumer = consume()
    await stream().append([record('before')])
    await until(async () => (await written()).length === 1)

    await server.client.xgroup('DESTROY', key, 'writers')
    await stream().append([record('after')])
    consumer.wake()

    await until(async () => (await written()).length === 2)
  })
})

describe('a Redis that lost what it had acknowledged', () => {
  test('gets the latest records again, and each is one row', async () => {
    let isUnreachable = true
    const shared = createSharedLoginLog({
      redis,
      insert: (records) => (isUnreachable ? away(records) : insert(records)),
      log,
      refuseWhenFull: false,
    })
    onTestFinished(() => shared.close(1000))
    for (const name of names(5)) await shared.publish([record(name)])
    expect(await server.client.xlen(key)).toBe(5)

    // Comes back empty, as a replica does that had not received the last writes.
    await server.kill()
    await server.start()
    isUnreachable = false

    await until(async () => (await written()).length === 5)
    expect((await written()).sort()).toEqual(names(5))
    await until(async () => (await left()).join() === '0,0')
  })
})

describe('an entry that cannot become a row', () => {
  test.each<readonly [string, readonly string[]]>([
    ['no record', ['nonsense', 'x']],
    ['no JSON', ['record', '{']],
    ['another form', ['record', '[1,2]']],
    ['no UUID', ['record', JSON.stringify(record('x', { attemptId: "'; drop table" }))]],
    ['no time', ['record', JSON.stringify({ ...record('x'), at: 'yesterday' })]],
    ['a megabyte', ['record', 'x'.repeat(1_000_000)]],
  ])('because it holds %s is set aside, and the others are written', async (_, fields) => {
    await stream().append([record('one')])
    await server.client.xadd(key, '*', ...fields)
    await stream().append([record('two')])

    const consumer = consume()

    await until(async () => (await left()).join() === '0,0')
    expect(await written()).toEqual(['one', 'two'])
    expect(await server.client.xlen(aside)).toBe(1)
    expect(consumer.state()).toMatchObject({ written: 2, refused: 1 })
    expect(logged.filter((line) => line.includes('set aside'))).toHaveLength(1)
  })

  test('because the table refuses it is set aside with the reason, and can be put back', async () => {
    await postgres.query(
      `alter table sys_login_log add constraint no_eve check (username <> 'eve')`,
    )
    onTestFinished(async () => {
      await postgres.query('alter table sys_login_log drop constraint if exists no_eve')
    })
    await stream().append(['ann', 'eve', 'bob'].map((name) => record(name)))

    consume()

    await until(async () => (await left()).join() === '0,0')
    expect(await written()).toEqual(['ann', 'bob'])
    const [kept] = await server.client.xrange(aside, '-', '+')
    expect(kept?.[1]).toContain('23514')
    await postgres.query('alter table sys_login_log drop constraint no_eve')
    await server.client.xadd(key, '*', ...(JSON.parse(kept?.[1].at(-1) ?? '[]') as string[]))
    await until(async () => (await written()).includes('eve'))
  })
})

describe('a full stream', () => {
  test('loses its oldest records, and tells how many', async () => {
    const small = stream({ maxEntries: 10 })

    const gone = [
      await small.append(names(8).map((name) => record(name))),
      await small.append([record('nine'), record('ten'), record('eleven')]),
    ]

    expect(gone).toEqual([0, 1])
    expect(await server.client.xlen(key)).toBe(10)
  })

  test('takes nothing more where records are required', async () => {
    const small = stream({ maxEntries: 10, refuseWhenFull: true })
    await small.append(names(9).map((name) => record(name)))

    const refused = small.append([record('ten'), record('eleven')])

    await expect(refused).rejects.toMatchObject({ name: 'Fault', part: 'redis' })
    expect(await server.client.xlen(key)).toBe(9)
  })
})

describe('a record that is made', () => {
  function loginLogOn(own: LoginLogStream) {
    const idle = { close: async () => {}, state: () => ({ written: 0, refused: 0, retried: 0 }) }
    const shared = { publish: own.append, ...idle }
    return createLoginLog({ insert, shared, log, now: () => new Date() })
  }
  const from = { address: '127.0.0.1', userAgent: 'test' }

  test('goes to the stream and not past it', async () => {
    const loginLog = loginLogOn(stream())

    for (const name of names(50)) loginLog.record(from, name, 'logged-in')
    await loginLog.close(1000)

    expect((await left())[0]).toBe(50)
    expect(await written()).toEqual([])
  })

  test.each([
    ['away', () => server.kill(), () => server.start()],
    ['hanging', async () => server.pause(), async () => server.resume()],
  ])('while Redis is %s is written to the table itself', async (_, lose, regain) => {
    const loginLog = loginLogOn(stream())
    await lose()
    onTestFinished(regain)

    for (const name of names(50)) loginLog.record(from, name, 'logged-in')

    await until(async () => (await written()).length === 50)
    expect(loginLog.state()).toMatchObject({ written: 50, dropped: 0, queued: 0 })
    await loginLog.close(1000)
  })

  test('while a key of another kind stands in the way is written to the table itself', async () => {
    await server.client.set(key, 'x')
    const loginLog = loginLogOn(stream())

    loginLog.record(from, 'ann', 'logged-in')

    await until(async () => (await written()).length === 1)
    await loginLog.close(1000)
  })
})

describe('at the end', () => {
  test('what is in the stream is still written, and the replica is forgotten', async () => {
    const consumer = consume({ pollMs: 60_000 })
    await until(async () => (await server.client.exists(key)) === 1)
    await stream().append(names(250).map((name) => record(name)))

    await consumer.close(2000)

    expect(await written()).toEqual(names(250))
    expect(await server.client.xinfo('CONSUMERS', key, 'writers')).toEqual([])
  })

  test('it waits no longer than it may for a table that does not answer', async () => {
    await stream().append([record('ann')])
    let asked = false
    const consumer = consume({
      insert() {
        asked = true
        return new Promise(() => {})
      },
    })
    await until(() => asked)

    await consumer.close(100)

    expect(await left()).toEqual([1, 1])
  })
})
