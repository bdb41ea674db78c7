import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordChange } from '../../src/stores/audit/audit.ts'
import { readAudit } from '../../src/stores/audit/read-audit.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { before, now } from '../../src/stores/database/dialect.ts'
import { type RunningDatabase, testDatabases } from './test-databases.ts'

const actor = { kind: 'operator', name: 'ada', origin: 'host-1' } as const

describe.each(testDatabases())('the audit log in $name', ({ start }) => {
  let server: RunningDatabase
  let database: Database
  beforeAll(async () => {
    server = await start()
    database = await server.fresh()
    await sql`
      insert into postern_audit (at, actor_kind, actor, origin, action, subject) values
        (${before(now, 86_400_000)}, 'operator', 'x', 'h', 'user.add', 'old'),
        (now(), 'operator', 'x', 'h', 'user.add', 'q1'),
        (now(), 'operator', 'x', 'h', 'role.add', 'q2'),
        (now(), 'operator', 'quentin', 'h', 'role.set', 'q3'),
        (now(), 'operator', 'quentin', 'h', 'user.add', 'q4')`.execute(database.db)
  })
  afterAll(() => server.stop())

  test('keeps what people and attackers write', async () => {
    const hostile = '\0 \ud800 \' " \\u0000 '.repeat(40)

    await recordChange(database, {
      actor: { ...actor, name: hostile },
      action: 'user.rename',
      subject: hostile,
      before: { name: hostile },
    })

    const { rows } = await sql<{ before: string }>`
      select "before" from postern_audit where action = 'user.rename'`.execute(database.db)
    expect(rows.map((row) => JSON.parse(row.before))).toEqual([{ name: hostile }])
  })

  test('bounds what a row keeps, because nothing deletes it', async () => {
    const names = Array.from({ length: 1000 }, () => 'n'.repeat(100))

    await recordChange(database, {
      ...{ actor, action: 'policy.push', subject: 'bounds' },
      before: { names },
      after: { message: 'm'.repeat(100_000) },
    })

    const [row] = await readAudit(database, { subject: 'bounds', limit: 1 })
    expect(row?.before).toEqual({ omitted: expect.stringMatching(/^\d+ characters$/) })
    expect(row?.after).toEqual({ message: `${'m'.repeat(1000)}…` })
  })

  test('reads newest first, and page after page', async () => {
    for (const subject of ['p1', 'p2', 'p3']) {
      await recordChange(database, {
        actor: { ...actor, name: 'pia' },
        action: 'user.add',
        subject,
      })
    }

    const first = await readAudit(database, { actor: 'pia', limit: 2 })
    const beforeId = first.at(-1)?.id
    const second = await readAudit(database, { actor: 'pia', beforeId, limit: 2 })

    expect(first.map(({ subject }) => subject)).toEqual(['p3', 'p2'])
    expect(second.map(({ subject }) => subject)).toEqual(['p1'])
    expect(second[0]).toEqual({
      id: expect.stringMatching(/^\d+$/),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      actor: { kind: 'operator', name: 'pia', origin: 'host-1' },
      ...{ action: 'user.add', subject: 'p1', before: null, after: null },
    })
  })

  test.each([
    [{ actor: 'quentin' }, ['q4', 'q3']],
    [{ action: 'role.set' }, ['q3']],
    [{ action: 'role' }, ['q3', 'q2']],
    [{ action: 'rol' }, []],
    [{ subject: 'q1' }, ['q1']],
    [{ sinceMs: 3_600_000, action: 'role' }, ['q3', 'q2']],
    [{ sinceMs: 3_600_000, subject: 'old' }, []],
    [{ sinceMs: 864_000_000, subject: 'old' }, ['old']],
    [{ subject: "' or true --" }, []],
    [{ subject: 'a\0\ud800' }, []],
  ])('finds %j', async (query, subjects) => {
    const found = await readAudit(database, { ...query, limit: 10 })

    expect(found.map(({ subject }) => subject)).toEqual(subjects)
  })

  test('shows rows that someone inserted with SQL', async () => {
    await sql`
      insert into postern_audit (actor_kind, actor, origin, action, subject, "before")
      values ('robot', 'r', 'h', 'moon.land', 'by hand', 'not JSON')`.execute(database.db)

    const [row] = await readAudit(database, { subject: 'by hand', limit: 1 })

    expect(row).toMatchObject({ action: 'moon.land', before: 'not JSON', after: null })
  })

  test('says how to create a missing table', async () => {
    const fresh = await server.fresh()
    await sql`drop table postern_audit`.execute(fresh.db)

    const missing =
      'table postern_audit is missing, or this database user may not read it: run "postern db migrate", or grant the table'
    await expect(readAudit(fresh, { limit: 1 })).rejects.toThrow(missing)
    await expect(
      recordChange(fresh, { actor, action: 'user.add', subject: 'bob' }),
    ).rejects.toThrow(missing)
    database = await server.fresh()
  })

  test.each([
    ['an update', sql`update postern_audit set actor = 'eve'`],
    ['a deletion', sql`delete from postern_audit`],
    ['a truncation', sql`truncate postern_audit`],
  ])('refuses %s', async (what, statement) => {
    // No trigger of MySQL fires then: only a user who may drop the table can truncate it.
    if (what === 'a truncation' && database.kind === 'mysql') return
    await recordChange(database, { actor, action: 'user.add', subject: 'bob' })

    await expect(statement.execute(database.db)).rejects.toThrow('append-only')
  })
})
