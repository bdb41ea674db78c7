import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccountChanges } from '../../src/stores/accounts/account-changes.ts'
import { createAccountDirectory } from '../../src/stores/accounts/account-directory.ts'
import { createAccounts } from '../../src/stores/accounts/accounts.ts'
import { createRoleChanges } from '../../src/stores/accounts/role-changes.ts'
import { createRoleDirectory } from '../../src/stores/accounts/role-directory.ts'
import { seedAccounts } from '../../src/stores/accounts/seed.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { laterEra } from './go-admin-tables.ts'
import { dropIndex, erasIn, type RunningDatabase, testDatabases } from './test-databases.ts'

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
    select action, subject, "before", after from postern_audit
    where actor = 'ada' and action like ${action} order by id`.execute(db)
  return rows.map(({ action: done, subject, before, after }) => [
    ...[done, subject, JSON.parse(before ?? 'null'), JSON.parse(after ?? 'null')],
  ])
}

describe.each(testDatabases())('changes of accounts in $name', ({ name, start }) => {
  let server: RunningDatabase
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.stop())

  async function seeded(statements: readonly string[] = []) {
    const database = await server.fresh(...statements)
    await seedAccounts(database, async () => 'hash', { makePassword: () => 'generated' })
    const roles = createRoleChanges(database, actor)
    return { database, changes: createAccountChanges(database, actor), roles }
  }

  describe.each(erasIn(name, eras))('where $era', ({ statements }) => {
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

  describe.each(erasIn(name, eras))('and of roles where $era', ({ statements }) => {
    test('add, set and remove one, with a row each', async () => {
      const { database, roles } = await seeded(statements)
      const king = { name: 'King', dataScope: '5' } as const

      expect(await roles.add('king', king)).toBe('added')
      expect(await roles.add('king', king)).toBe('key-taken')
      expect(await roles.set('king', { dataScope: '2' })).toEqual({ userIds: [] })
      expect(await roles.set('king', { name: 'Queen' })).toEqual({ userIds: [] })
      expect(await createRoleDirectory(database).show('king')).toEqual([
        {
          ...{ roleId: '4', roleKey: 'king', name: 'Queen', dataScope: '2' },
          ...{ users: { enabled: 0, disabled: 0 }, services: 0, accounts: [] },
          createdAt: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          updatedAt: expect.any(String),
        },
      ])
      expect(await roles.remove('king')).toEqual({ userIds: [] })
      expect(await roles.remove('king')).toBe('no-such-role')
      expect(await roles.set('king', { name: 'x' })).toBe('no-such-role')
      expect(await roles.add('king', king)).toBe('added')
      expect(await audit(database)).toEqual([
        ['role.add', 'king', null, king],
        ['role.set', 'king', { dataScope: '5' }, { dataScope: '2' }],
        ['role.set', 'king', { name: 'King' }, { name: 'Queen' }],
        ['role.remove', 'king', { name: 'Queen', dataScope: '2' }, null],
        ['role.add', 'king', null, king],
      ])
    })

    test('report everyone whose tokens carry it, deleted accounts too', async () => {
      const { changes, roles } = await seeded(statements)
      for (const username of ['ann', 'bob', 'eve']) {
        await changes.add({ username, roleKey: 'viewer', passwordHash: 'x' })
      }
      await changes.setEnabled('bob', false)
      await changes.remove('eve')

      expect(await roles.set('viewer', { dataScope: '1' })).toEqual({ userIds: ['3', '4', '5'] })
      await changes.setRole('ann', 'editor')
      expect(await roles.remove('viewer')).toBe('in-use')
      await changes.remove('bob')
      expect(await roles.remove('viewer')).toEqual({ userIds: ['4', '5'] })
    })

    test('keep a role that a disabled account or a service account has', async () => {
      const { database, changes, roles } = await seeded(statements)
      await changes.setEnabled('editor', false)
      await changes.add({ username: 'robot', roleKey: 'viewer', passwordHash: 'x' })
      await run(database, `insert into postern_service_account (user_id, note) values (3, '')`)

      expect(await roles.remove('editor')).toBe('in-use')
      expect(await roles.remove('viewer')).toBe('in-use')
      expect(await roles.remove('admin')).toBe('in-use')
      const listed = await createRoleDirectory(database).list()
      expect(listed.map(({ roleKey, users, services }) => [roleKey, users, services])).toEqual([
        ['admin', { enabled: 1, disabled: 0 }, 0],
        ['editor', { enabled: 0, disabled: 1 }, 0],
        ['viewer', { enabled: 0, disabled: 0 }, 1],
      ])
      expect((await createRoleDirectory(database).show('viewer'))[0]?.accounts).toEqual([
        { username: 'robot', kind: 'service' },
      ])
    })
  })

  test('never give an account a role that is removed at the same time', async () => {
    const { database, changes, roles } = await seeded()

    const [given, removed] = await Promise.all([
      changes.setRole('editor', 'viewer'),
      roles.remove('viewer'),
    ])

    const { caller } = (await createAccounts(database).findByUsername('editor')) ?? {}
    expect([given, removed, caller?.roleKey]).toEqual(
      removed === 'in-use'
        ? [{ userIds: ['2'] }, 'in-use', 'viewer']
        : ['no-such-role', { userIds: [] }, 'editor'],
    )
  })

  test('change every role of a key that exists twice', async () => {
    const { database, changes, roles } = await seeded()
    await dropIndex(database, 'sys_role', 'sys_role_live_role_key')
    await run(
      database,
      `insert into sys_role (role_id, role_key) values (9, 'viewer')`,
      `update sys_user set role_id = 9 where username = 'editor'`,
    )

    expect(await roles.remove('viewer')).toBe('in-use')
    expect(await roles.set('viewer', { dataScope: '3' })).toEqual({ userIds: ['2'] })
    const shown = await createRoleDirectory(database).show('viewer')
    expect(shown.map(({ roleId, dataScope }) => [roleId, dataScope])).toEqual([
      ['3', '3'],
      ['9', '3'],
    ])
    await changes.setRole('editor', 'editor')
    expect(await roles.remove('viewer')).toEqual({ userIds: [] })
    expect(await createRoleDirectory(database).show('viewer')).toEqual([])
  })

  test('find no role under a key of SQL or one that no column holds', async () => {
    const { database, roles } = await seeded()

    for (const key of ['king\0', 'king\ud800', "admin' or '1'='1", '%', '']) {
      expect(await roles.set(key, { dataScope: '1' })).toBe('no-such-role')
      expect(await roles.remove(key)).toBe('no-such-role')
      expect(await createRoleDirectory(database).show(key)).toEqual([])
    }
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

  test('count no admin whom login cannot choose, because another account has the name', async () => {
    const { database, changes } = await seeded()
    await dropIndex(database, 'sys_user', 'sys_user_live_username')
    await run(
      database,
      `insert into sys_user (username, role_id, status) values ('editor', 1, '2')`,
    )

    expect(await changes.setEnabled('admin', false)).toBe('last-admin')
    await run(database, `update sys_user set status = '1' where user_id = 2`)
    expect(await changes.setEnabled('admin', false)).toEqual({ userIds: ['1'] })
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
    await dropIndex(database, 'sys_user', 'sys_user_live_username')
    await run(database, `insert into sys_user (username, role_id, status) values ('admin', 1, '2')`)

    expect(await changes.setEnabled('admin', false)).toBe('last-admin')
    expect(await changes.rename('admin', 'boss')).toEqual({ userIds: ['1'] })
    expect(await createAccountDirectory(database).idsOf('admin')).toEqual(['3'])
    await run(database, `update sys_user set username = 'admin'`)
    expect(await changes.setRole('admin', 'viewer', true)).toEqual({ userIds: ['1', '2', '3'] })
    expect(await audit(database, 'user.role')).toHaveLength(3)
  })

  test('happen only together with their audit row', async () => {
    const { database, changes, roles } = await seeded()
    await run(database, `alter table postern_audit add check (actor <> 'ada')`)

    await expect(changes.setEnabled('editor', false)).rejects.toMatchObject({ name: 'Fault' })
    await expect(changes.remove('editor')).rejects.toMatchObject({ name: 'Fault' })
    await expect(roles.set('editor', { dataScope: '1' })).rejects.toMatchObject({ name: 'Fault' })

    expect(await createAccounts(database).findByUsername('editor')).toMatchObject({
      ...{ enabled: true, caller: { dataScope: '5' } },
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
      'table postern_audit is missing, or this database user may not read it: run "postern db migrate", or grant the table',
    )
    expect(await createAccounts(database).findByUsername('editor')).toMatchObject({
      enabled: true,
    })
  })
})

type Changes = ReturnType<typeof createAccountChanges>
