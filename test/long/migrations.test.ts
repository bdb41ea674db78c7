import { rm } from 'node:fs/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Database } from '../../src/stores/database/database.ts'
import { migrate } from '../../src/stores/database/migrations.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { laterEra } from '../stores/go-admin-tables.ts'
import {
  copiedDirectory,
  everyDatabase,
  limits,
  type RunningDatabase,
} from '../stores/test-databases.ts'
import { until } from '../support/until.ts'

async function tables({ db }: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' order by 1`.execute(db)
  return rows.map(({ name }) => name)
}

/** Columns and indexes of the tables whose names are like this. */
async function definition({ db }: Database, names: string): Promise<unknown> {
  const columns = await sql`
    select table_name, column_name, data_type, character_maximum_length, is_nullable, column_default
    from information_schema.columns
    where table_schema = 'public' and table_name like ${names} order by 1, 2`.execute(db)
  const indexes = await sql`
    select indexdef from pg_indexes
    where schemaname = 'public' and tablename like ${names} order by 1`.execute(db)
  return { columns: columns.rows, indexes: indexes.rows }
}

const ownTables = [
  'postern_audit',
  'postern_identity',
  'postern_login_attempt',
  'postern_login_lockout',
  'postern_migration',
  'postern_policy_move',
  'postern_policy_usage',
  'postern_provider_session',
  'postern_recovery_code',
  'postern_revocation',
  'postern_service_account',
  'postern_service_token',
  'postern_session',
  'postern_totp',
  'postern_used_once',
  'sys_login_log',
  'sys_role',
  'sys_user',
]

describe.each(everyDatabase())('the tables in $name', ({ start }) => {
  let server: RunningDatabase
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.stop())

  test('are made when they are absent', async () => {
    const database = await server.fresh()

    expect(await tables(database)).toEqual(ownTables)
    expect(await database.shapes()).toMatchObject({ users: 'null-is-live', roles: 'null-is-live' })
  })

  test('are made once, even by several at the same time', async () => {
    const database = await server.fresh()
    await sql`drop schema public cascade`.execute(database.db)
    await sql`create schema public`.execute(database.db)

    await Promise.all([1, 2, 3, 4].map(() => migrate(database.db)))

    expect(await tables(database)).toEqual(ownTables)
  })

  test('are left as they are when they are present', async () => {
    const database = await server.fresh()
    await sql`drop schema public cascade`.execute(database.db)
    await sql`create schema public`.execute(database.db)
    const theirs = [...laterEra, 'create table sys_login_log as select 1 as theirs']
    for (const statement of theirs) await sql.raw(statement).execute(database.db)
    const before = await definition(database, 'sys_%')

    await migrate(database.db)

    expect(await definition(database, 'sys_%')).toEqual(before)
    expect(await tables(database)).toEqual(ownTables)
  })

  test('are only looked for when none is missing', async () => {
    const database = await server.fresh()
    // What creates tables is written in this language.
    await sql`drop extension plpgsql cascade`.execute(database.db)
    try {
      await expect(migrate(database.db)).resolves.toBeUndefined()
    } finally {
      await sql`create extension plpgsql`.execute(database.db)
    }
  })

  test('tell the later era of deleted rows by the type of their column', async () => {
    const database = await server.fresh(...laterEra)

    expect(await database.shapes()).toMatchObject({ users: 'zero-is-live', roles: 'zero-is-live' })
  })

  test('are each asked for their own era', async () => {
    const database = await server.fresh(...laterEra.slice(0, 1))

    expect(await database.shapes()).toMatchObject({ users: 'null-is-live', roles: 'zero-is-live' })
  })

  test('are refused with every difference when they do not fit', async () => {
    const database = await server.fresh(
      ...laterEra,
      'alter table sys_user drop column role_id',
      'alter table sys_user alter column status type integer using 0',
      'alter table sys_role alter column deleted_at type text using null',
    )

    const refused = await database.shapes().catch((error: unknown) => error)

    expect(refused).toMatchObject({ name: 'Invalid' })
    expect((refused as Error).message.split('\n')).toEqual([
      'database: table sys_user has no column role_id (expected bigint, integer, smallint)',
      expect.stringMatching(/^database: column status of table sys_user is integer, expected /),
      expect.stringMatching(/^database: column deleted_at of table sys_role is text, expected /),
    ])
  })

  test('are looked for where queries look, along the search path', async () => {
    const database = await server.fresh('create schema if not exists elsewhere')
    await sql`create table if not exists elsewhere.sys_user (odd text)`.execute(database.db)

    await expect(database.shapes()).resolves.toBeDefined()
  })
})

test('a table that is created while a gateway runs is found without a restart', async () => {
  const directory = await copiedDirectory()
  const operator = await openDatabase({ directory, ...limits })
  await sql`drop table postern_session`.execute(operator.db)
  const gateway = await openDatabase({ directory, ...limits, migrate: 'never' })
  onTestFinished(async () => {
    await gateway.close()
    await operator.close()
    await rm(directory, { recursive: true, force: true })
  })
  const isFound = async () => (await gateway.shapes()).optional.has('postern_session')
  expect(await isFound()).toBe(false)
  await migrate(operator.db)
  expect(await isFound()).toBe(false)

  const start = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => start + 20_000)
  onTestFinished(() => clock.mockRestore())

  await until(isFound)
})
