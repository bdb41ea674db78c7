import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordChange } from '../../src/stores/audit/audit.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { type RunningDatabase, testDatabases } from './test-databases.ts'

const actor = { kind: 'operator', name: 'ada', origin: 'host-1' } as const

describe.each(testDatabases())('the audit log in $name', ({ start }) => {
  let server: RunningDatabase
  let database: Database
  beforeAll(async () => {
    server = await start()
    database = await server.fresh()
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
      select before from postern_audit where action = 'user.rename'`.execute(database.db)
    expect(rows.map(({ before }) => JSON.parse(before))).toEqual([{ name: hostile }])
  })

  test.each([
    ['an update', sql`update postern_audit set actor = 'eve'`],
    ['a deletion', sql`delete from postern_audit`],
    ['a truncation', sql`truncate postern_audit`],
  ])('refuses %s', async (_, statement) => {
    await recordChange(database, { actor, action: 'user.add', subject: 'bob' })

    await expect(statement.execute(database.db)).rejects.toThrow('append-only')
  })
})
