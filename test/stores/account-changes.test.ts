import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccountChanges } from '../../src/stores/accounts/account-changes.ts'
import { createAccountDirectory } from '../../src/stores/accounts/account-directory.ts'
import { createAccounts } from '../../src/stores/accounts/accounts.ts'
import { seedAccounts } from '../../src/stores/accounts/seed.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { laterEra } from './go-admin-tables.ts'
import { type RunningDatabase, testDatabases } from './test-databases.ts'

const actor = { kind: 'operator', name: 'ada', origin: 'host-1' } as const

const eras = [
  { era: 'NULL marks a live row', statements: [] },
  { era: 'zero marks a live row', statements: laterEra },
] as const

async function run(database: Database, ...statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(database.db)
}

async function audit({ db }: Database, action = '%') {
  const { rows } = await sql<Record<'action' | 'subject' | 'before' | 'after', string>>`
    select action, subject, before, after from postern_audit
    where actor = 'ada' and action like ${action} order by id`.execute(db)
  return rows.map(({ action: done, subject, before, after }) => [
    ...[done, subject, JSON.parse(before ?? 'null'), JSON.parse(after ?? 'null')],
  ])
}

describe.each(testDatabases())('changes of accounts in $name', ({ start }) => {
  let server: RunningDatabase
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.stop())

  async function seeded(statements: readonly string[] = []) {
    const database = await server.fresh(...statements)
    await seedAccounts(
      database,
      async () => 'hash',
      () => 'generated',
    )
    return { database, changes: createAccountChanges(database, actor) }
  }

  describe.each(eras)('where $era', ({ statements }) => {
    test('append a row each that says what was before and after', async () => {
      const { database, changes } = await seeded(statements)

      await changes.add({ username: 'zoë', roleKey: 'viewer', passwordHash: 'secret' })
      await changes.setPassword('zoë', 'other secret')
      await changes.setRole('zoë', 'editor')
      await changes.setEnabled('zoë', false)
      await changes.setEnabled('zoë', true)
      await changes.rename('zoë', 'zoe')
      await changes.remove('zoe')

      expect(await audit(database)).toEqual([
        ['user.add', 'zoë', null, { userId: '3', role: 'viewer' }],
        ['user.password', 'zoë', null, null],
        ['user.role', 'zoë', { role: 'viewer' }, { role: 'editor' }],
        ['user.disable', 'zoë', { enabled: true }, { enabled: false }],
        ['user.enable', 'zoë', { enabled: false }, { enabled: true }],
        ['user.rename', 'zoë', { name: 'zoë' }, { name: 'zoe' }],
        ['user.delete', 'zoe', { userId: '3', role: 'editor', enabled: true }, null],
      ])
    })

    test('delete an account as go-admin does: its row stays, its name is free', async () => {
      const { database, changes } = await seeded(statements)
      const account = { username: 'zoë', roleKey: 'viewer', passwordHash: 'x' }

      for (const id of ['3', '4']) {
        expect(await changes.add(account)).toEqual({ userIds: [id] })
        expect(await changes.remove('zoë')).toEqual({ userIds: [id] })
      }

      expect(await createAccounts(database).findByUsername('zoë')).toBeUndefined()
      expect(await changes.remove('zoë')).toBe('no-such-user')
      const { rows } = await sql`select 1 from sys_user where username = 'zoë'`.execute(database.db)
      expect(rows).toHaveLength(2)
    })

    test('rename an account, and its display name where that was the user name', async () => {
      const { database, changes } = await seeded(statements)
      await run(database, `update sys_user set nick_name = 'The Boss' where username = 'admin'`)

      expect(await changes.rename('editor', 'writer')).toEqual({ userIds: ['2'] })
      expect(await changes.rename('admin', 'boss')).toEqual({ userIds: ['1'] })
      expect(await changes.rename('boss', 'writer')).toBe('name-taken')
      expect(await changes.rename('boss', 'boss')).toBe('name-taken')
      expect(await changes.rename('admin', 'chief')).toBe('no-such-user')

      const { rows } = await sql<Record<'username' | 'nick_name', string>>`
        select username, nick_name from sys_user order by user_id`.execute(database.db)
      expect(rows).toEqual([
        { username: 'boss', nick_name: 'The Boss' },
        { username: 'writer', nick_name: 'writer' },
      ])
    })

    test('keep the last enabled admin, unless forced', async () => {
      const { database, changes } = await seeded(statements)
      await changes.add({ username: 'boss', roleKey: 'admin', passwordHash: 'x' })
      await changes.setEnabled('boss', false)

      expect(await changes.setEnabled('admin', false)).toBe('last-admin')
      expect(await changes.setRole('admin', 'viewer')).toBe('last-admin')
      expect(await changes.remove('admin')).toBe('last-admin')
      expect(await createAccounts(database).findByUsername('admin')).toMatchObject({
        ...{ caller: { roleKey: 'admin' }, enabled: true },
      })
      expect(await audit(database, 'user.d%')).toHaveLength(1)

      expect(await changes.setRole('admin', 'admin')).toEqual({ userIds: ['1'] })
      expect(await changes.remove('boss')).toEqual({ userIds: ['3'] })
      expect(await changes.remove('admin', true)).toEqual({ userIds: ['1'] })
      expect(await changes.remove('editor')).toEqual({ userIds: ['2'] })
    })
  })

  test.each([
    ['disable', (changes: Changes, name: string) => changes.setEnabled(name, false)],
    ['demote', (changes: Changes, name: string) => changes.setRole(name, 'viewer')],
    ['delete', (changes: Changes, name: string) => changes.remove(name)],
  ])('keep one of two admins whom two operators %s at once', async (_, change) => {
    const { changes } = await seeded()
    await changes.add({ username: 'boss', roleKey: 'admin', passwordHash: 'x' })

    const outcomes = await Promise.all(['admin', 'boss'].map((name) => change(changes, name)))

    expect(outcomes.filter((outcome) => outcome === 'last-admin')).toHaveLength(1)
  })

  test('count neither service accounts nor accounts without a live role as admins', async () => {
    const { database, changes } = await seeded()
    await changes.add({ username: 'robot', roleKey: 'admin', passwordHash: 'x' })
    await run(
      database,
      `insert into postern_service_account (user_id, note) values (3, '')`,
      `insert into sys_role (role_id, role_key, deleted_at) values (9, 'admin', now())`,
      `insert into sys_user (username, role_id, status) values ('ghost', 9, '2')`,
    )

    expect(await changes.setEnabled('admin', false)).toBe('last-admin')
  })

  test('leave service accounts to their own commands', async () => {
    const { database, changes } = await seeded()
    await run(database, `insert into postern_service_account (user_id, note) values (2, '')`)

    expect([
      await changes.setPassword('editor', 'x'),
      await changes.setRole('editor', 'viewer'),
      await changes.setEnabled('editor', true),
      await changes.rename('editor', 'other'),
      await changes.remove('editor'),
    ]).toEqual(Array.from({ length: 5 }, () => 'service-account'))
    expect(await audit(database)).toEqual([])
  })

  test('of a name that exists twice change both, or the one that login chooses', async () => {
    const { database, changes } = await seeded()
    await run(
      database,
      'drop index sys_user_live_username',
      `insert into sys_user (username, role_id, status) values ('admin', 1, '2')`,
    )

    expect(await changes.setEnabled('admin', false)).toBe('last-admin')
    expect(await changes.rename('admin', 'boss')).toEqual({ userIds: ['1'] })
    expect(await createAccountDirectory(database).idsOf('admin')).toEqual(['3'])
    await run(database, `update sys_user set username = 'admin'`)
    expect(await changes.setRole('admin', 'viewer', true)).toEqual({ userIds: ['1', '2', '3'] })
    expect(await audit(database, 'user.role')).toHaveLength(3)
  })

  test('happen only together with their audit row', async () => {
    const { database, changes } = await seeded()
    await run(database, `alter table postern_audit add check (subject <> 'editor')`)

    await expect(changes.setEnabled('editor', false)).rejects.toMatchObject({ name: 'Fault' })
    await expect(changes.remove('editor')).rejects.toMatchObject({ name: 'Fault' })

    expect(await createAccounts(database).findByUsername('editor')).toMatchObject({
      enabled: true,
    })
  })

  test('need the table of the audit log', async () => {
    const { database } = await seeded()
    await run(database, 'drop table postern_audit')
    const { optional, ...shapes } = await database.shapes()
    const left = new Set([...optional].filter((name) => name !== 'postern_audit'))
    const changes = createAccountChanges(
      { ...database, shapes: async () => ({ ...shapes, optional: left }) },
      actor,
    )

    await expect(changes.setEnabled('editor', false)).rejects.toThrow(
      'table postern_audit is missing: run "postern db migrate" to create it',
    )
    expect(await createAccounts(database).findByUsername('editor')).toMatchObject({
      enabled: true,
    })
  })
})

type Changes = ReturnType<typeof createAccountChanges>
