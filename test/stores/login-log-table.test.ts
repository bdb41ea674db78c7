import { randomUUID } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LoginRecord } from '../../src/login/login-record.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { before as earlier, now, tableOf } from '../../src/stores/database/dialect.ts'
import { readLoginLog } from '../../src/stores/login-log/login-log-reader.ts'
import { createLoginLogTable } from '../../src/stores/login-log/login-log-table.ts'
import { type RunningDatabase, testDatabases } from './test-databases.ts'

const at = new Date('2026-03-04T05:06:07.089Z')

function record(change: Partial<LoginRecord> = {}): LoginRecord {
  return {
    attemptId: randomUUID(),
    username: 'alice',
    status: '2',
    message: 'login succeeded',
    address: '192.0.2.7',
    userAgent: 'curl/8.0',
    at,
    ...change,
  }
}

function rows({ db }: Database) {
  return db.selectFrom('sys_login_log').selectAll().orderBy('id').execute()
}

async function remembered({ db }: Database): Promise<number> {
  const query = sql<{ many: string }>`select count(*) as many from postern_login_attempt`
  return Number((await query.execute(db)).rows[0]?.many)
}

describe.each(testDatabases())('the login log in $name', ({ start }) => {
  let server: RunningDatabase
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.stop())

  test('keeps every field of an attempt', async () => {
    const database = await server.fresh()

    await createLoginLogTable(database).insert([record()])

    expect(await rows(database)).toEqual([
      {
        ...{ id: '1', username: 'alice', status: '2', ipaddr: '192.0.2.7', login_location: '' },
        ...{ browser: 'curl 8.0', os: '', platform: '', login_time: at, remark: 'curl/8.0' },
        ...{ msg: 'login succeeded', create_by: '0', update_by: '0' },
        ...{ created_at: expect.any(Date), updated_at: expect.any(Date) },
      },
    ])
  })

  test('keeps a batch in its order', async () => {
    const database = await server.fresh()
    const names = Array.from({ length: 500 }, (_, at) => `user ${at}`)

    await createLoginLogTable(database).insert(names.map((username) => record({ username })))

    expect((await rows(database)).map(({ username }) => username)).toEqual(names)
  })

  test('takes an attempt once, within a batch, in a later batch and from two writers', async () => {
    const database = await server.fresh()
    const { insert } = createLoginLogTable(database)
    const batch = Array.from({ length: 50 }, (_, at) => record({ username: `user ${at}` }))

    await insert([...batch, ...batch])
    await insert([...batch.slice(10, 20), record({ username: 'new' })])
    const shared = Array.from({ length: 50 }, () => record({ username: 'shared' }))
    await Promise.all([insert(shared), insert(shared.toReversed()), insert(shared)])

    const names = (await rows(database)).map(({ username }) => username)
    expect(names).toHaveLength(101)
    expect(names.slice(0, 51)).toEqual([...batch.map(({ username }) => username), 'new'])
  })

  test('refuses only the record that the table refuses, and says with what code', async () => {
    const database = await server.fresh()
    const { insert } = createLoginLogTable(database)
    await sql`alter table sys_login_log add check (username <> 'poison')`.execute(database.db)
    const batch = Array.from({ length: 20 }, (_, at) => record({ username: `user ${at}` }))
    const poison = record({ username: 'poison' })

    const outcome = await insert([...batch.slice(0, 7), poison, ...batch.slice(7)])

    expect(outcome).toEqual({ written: 20, refused: [{ record: poison, reason: '23514' }] })
    const names = (await rows(database)).map(({ username }) => username)
    expect(names).toEqual(batch.map(({ username }) => username))
    expect(await remembered(database)).toBe(20)
  })

  test('says how many rows are new', async () => {
    const { insert } = createLoginLogTable(await server.fresh())
    const batch = [record(), record(), record()]

    const first = await insert(batch.slice(0, 2))
    const second = await insert(batch)

    expect([first.written, second.written]).toEqual([2, 1])
  })

  test('is a fault, not a refusal of records, while the table is not there', async () => {
    const database = await server.fresh()
    const { insert } = createLoginLogTable(database)
    const batch = [record(), record()]
    await insert(batch.slice(0, 1))
    await sql`alter table sys_login_log rename to elsewhere`.execute(database.db)

    await expect(insert(batch)).rejects.toMatchObject({ name: 'Fault', part: 'database' })

    await sql`alter table elsewhere rename to sys_login_log`.execute(database.db)
    expect(await insert(batch)).toMatchObject({ written: 1 })
  })

  test.each([
    ['SQL', `'); drop table sys_login_log; --`, `'); drop table sys_login_log; --`],
    ['JSON', '"},{"username":"x', '"},{"username":"x'],
    ['NUL characters', 'a\0b\0', 'ab'],
    ['half a surrogate pair', 'a\ud800b', 'a�b'],
    ['line ends', 'a\r\nb\u2028c', 'a\r\nb\u2028c'],
    ['ten thousand letters', 'x'.repeat(10_000), 'x'.repeat(128)],
    ['ten thousand emoji', '🦊'.repeat(10_000), '🦊'.repeat(128)],
  ])('holds %s as one row', async (_, username, kept) => {
    const database = await server.fresh()

    await createLoginLogTable(database).insert([record({ username })])

    expect((await rows(database)).map((row) => row.username)).toEqual([kept])
  })

  test('cuts a user agent, an address and a message to what their columns hold', async () => {
    const database = await server.fresh()
    const long = '🦊'.repeat(300)

    const hostile = record({ userAgent: `\0${long}`, address: long, message: long })
    await createLoginLogTable(database).insert([hostile])

    const cut = '🦊'.repeat(255)
    expect(await rows(database)).toMatchObject([{ remark: cut, ipaddr: cut, msg: cut }])
  })

  test('forgets the ids of attempts after a week', async () => {
    const database = await server.fresh()
    const { insert } = createLoginLogTable(database)
    await insert([record(), record()])
    await sql`update postern_login_attempt
      set recorded_at = ${earlier(now, 8 * 86_400_000)}`.execute(database.db)

    await insert([record()])

    expect(await remembered(database)).toBe(1)
    expect(await rows(database)).toHaveLength(3)
  })

  test('asks nothing of the database for an empty batch', async () => {
    const database = await server.fresh()
    await sql`drop table sys_login_log`.execute(database.db)

    await expect(createLoginLogTable(database).insert([])).resolves.toMatchObject({ written: 0 })
  })

  test('is read newest first, by name, message, address and time', async () => {
    const database = await server.fresh()
    const later = new Date(at.getTime() + 60_000)
    await createLoginLogTable(database).insert([
      record(),
      record({ username: 'ALICE', address: '198.51.100.1', at: later }),
      record({ username: 'bob', message: 'wrong captcha', status: '1' }),
      // What go-admin may have written.
      record({ username: 'carol', address: '内网IP', message: '登录成功', userAgent: '' }),
    ])
    const read = async (query: Partial<Parameters<typeof readLoginLog>[1]>) => {
      const { entries, more } = await readLoginLog(database, { sinceMs: 0, limit: 100, ...query })
      return [...entries.map(({ username }) => username), ...(more ? ['more'] : [])]
    }

    expect(await read({})).toEqual(['carol', 'bob', 'ALICE', 'alice'])
    expect(await read({ limit: 3 })).toEqual(['carol', 'bob', 'ALICE', 'more'])
    expect(await read({ limit: 4 })).toHaveLength(4)
    expect(await read({ user: 'Alice' })).toEqual(['ALICE', 'alice'])
    expect(await read({ user: 'al\0ice' })).toEqual([])
    expect(await read({ messages: ['wrong captcha'] })).toEqual(['bob'])
    expect(await read({ sinceMs: later.getTime() })).toEqual(['ALICE'])
    expect(await read({ isAddress: (address) => address.startsWith('198.') })).toEqual(['ALICE'])
    expect((await readLoginLog(database, { sinceMs: 0, limit: 9, user: 'bob' })).entries).toEqual([
      {
        ...{ atMs: at.getTime(), username: 'bob', succeeded: false, message: 'wrong captcha' },
        ...{ address: '192.0.2.7', client: 'curl 8.0', userAgent: 'curl/8.0' },
      },
    ])
  })

  test('is read page by page, and no further than its rows can be recent', async () => {
    const database = await server.fresh()
    const eighty = Array.from({ length: 80 }, (_, n) => ({ n }))
    const add = (username: string, at: RawBuilder<unknown>, times: 1 | 80) =>
      sql`insert into sys_login_log (username, login_time, created_at, msg)
        select ${username}, ${at}, ${at}, ''
        from ${tableOf('a', { n: 'int' }, eighty.slice(0, times))}
          cross join ${tableOf('b', { n: 'int' }, eighty.slice(0, times))}`.execute(database.db)
    await add('old', earlier(now, 9 * 86_400_000), 80)
    await add('first', now, 1)
    await add('other', now, 80)
    // Written late: its attempt was earlier than those of rows before it.
    await createLoginLogTable(database).insert([
      record({ username: 'late', at: new Date(Date.now() - 86_400_000) }),
    ])

    const query = { sinceMs: Date.now() - 3_600_000, limit: 10 }
    const first = await readLoginLog(database, { ...query, user: 'first' })
    const old = await readLoginLog(database, { ...query, user: 'old' })
    const late = await readLoginLog(database, { ...query, sinceMs: 0, user: 'late' })

    expect(first.entries).toHaveLength(1)
    expect(old).toEqual({ entries: [], more: false })
    expect(late.entries).toHaveLength(1)
    expect(await readLoginLog(database, { sinceMs: 0, limit: 10, user: 'old' })).toMatchObject({
      more: true,
    })
  })
})
