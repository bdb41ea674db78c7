import { hostname } from 'node:os'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Invalid } from '../../src/kernel/errors.ts'
import { createAccountChanges } from '../../src/stores/accounts/account-changes.ts'
import { createAccountDirectory } from '../../src/stores/accounts/account-directory.ts'
import { createAccounts } from '../../src/stores/accounts/accounts.ts'
import { knownNames } from '../../src/stores/accounts/known-names.ts'
import { createOwnPasswords } from '../../src/stores/accounts/own-password.ts'
import { seedAccounts } from '../../src/stores/accounts/seed.ts'
import { readAudit } from '../../src/stores/audit/read-audit.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { laterEra } from './go-admin-tables.ts'
import { dropIndex, erasIn, type RunningDatabase, testDatabases } from './test-databases.ts'

const eras = [
  { era: 'NULL marks a live row', statements: [], deleted: 'now()' },
  { era: 'zero marks a live row', statements: laterEra, deleted: '1700000000000' },
] as const

const actor = { kind: 'operator', name: 'ada', origin: 'host-1' } as const

const hash = async (password: string) => `hash of ${password}`

async function run(database: Database, ...statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(database.db)
}

describe.each(testDatabases())('accounts in $name', ({ name, start }) => {
  let server: RunningDatabase
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.stop())

  async function seeded(statements: readonly string[] = []): Promise<Database> {
    const database = await server.fresh(...statements)
    await seedAccounts(database, hash, { makePassword: () => 'generated' })
    return database
  }

  describe.each(erasIn(name, eras))('where $era', ({ statements, deleted }) => {
    test('are found by name, with their role', async () => {
      const accounts = createAccounts(await seeded(statements))

      expect(await accounts.findByUsername('admin')).toEqual({
        caller: {
          userId: '1',
          roleId: '1',
          roleKey: 'admin',
          roleName: 'Administrator',
          username: 'admin',
          dataScope: '1',
        },
        passwordHash: 'hash of generated',
        enabled: true,
      })
    })

    test('tell which names are those of live accounts', async () => {
      const database = await seeded(statements)
      await run(database, `update sys_user set deleted_at = ${deleted} where username = 'viewer'`)

      const known = await knownNames(database, ['Admin', 'editor', 'viewer', 'hunter2', 'a\0', ''])

      expect(known.toSorted()).toEqual(['admin', 'editor'])
      expect(await knownNames(database, [])).toEqual([])
    })

    test('are not found once they are deleted', async () => {
      const database = await seeded(statements)
      const accounts = createAccounts(database)

      await run(database, `update sys_user set deleted_at = ${deleted} where username = 'admin'`)

      expect(await accounts.findByUsername('admin')).toBeUndefined()
      expect(await accounts.profile('1')).toBeUndefined()
      expect(await accounts.findByUsername('editor')).toBeDefined()
    })

    test('tell which costs their passwords were hashed with', async () => {
      const database = await seeded(statements)
      const accounts = createAccounts(database)
      const rest = '.'.repeat(53)
      await run(
        database,
        `update sys_user set password = '$2a$10$${rest}' where username = 'admin'`,
        `update sys_user set password = '$2y$12$${rest}' where username = 'editor'`,
        `insert into sys_user (username, password, role_id) values ('old', '$2b$13$${rest}', 1)`,
        `update sys_user set deleted_at = ${deleted} where username = 'old'`,
      )

      expect((await accounts.passwordCosts()).sort()).toEqual([10, 12])
    })

    test('are not found once their role is deleted', async () => {
      const database = await seeded(statements)

      await run(database, `update sys_role set deleted_at = ${deleted} where role_key = 'admin'`)

      expect(await createAccounts(database).findByUsername('admin')).toBeUndefined()
    })

    test('are added, given a password, listed and disabled', async () => {
      const database = await seeded(statements)
      const changes = createAccountChanges(database, actor)
      const account = { username: 'zoë 🦊', roleKey: 'viewer', passwordHash: 'first' }

      expect(await changes.add(account)).toEqual({ userIds: ['3'] })
      expect(await changes.add(account)).toBe('name-taken')
      expect(await changes.add({ ...account, roleKey: 'nothing' })).toBe('no-such-role')
      expect(await changes.setPassword('zoë 🦊', 'second')).toEqual({ userIds: ['3'] })
      expect(await changes.setEnabled('zoë 🦊', false)).toEqual({ userIds: ['3'] })

      const found = await createAccounts(database).findByUsername('zoë 🦊')
      expect(found).toMatchObject({ passwordHash: 'second', enabled: false })
      const kind = 'user'
      const secondFactor = false
      expect(await createAccountDirectory(database).list()).toEqual([
        { userId: '1', username: 'admin', roleKey: 'admin', enabled: true, kind, secondFactor },
        { userId: '2', username: 'editor', roleKey: 'editor', enabled: true, kind, secondFactor },
        { userId: '3', username: 'zoë 🦊', roleKey: 'viewer', enabled: false, kind, secondFactor },
      ])
    })

    test('take a new password of their owner while they have the old one and are live', async () => {
      const database = await seeded(statements)
      const own = createOwnPasswords(database)
      const account = await own.find('2')
      if (account === undefined) throw new Error('no account')
      const passwordNow = async () =>
        (await createAccounts(database).findByUsername('editor'))?.passwordHash

      const changes = ['first', 'second'].map((newHash) => ({ account, newHash, origin: '::1' }))
      const replaced = await Promise.all(changes.map(own.replace))

      expect(account).toMatchObject({ username: 'editor', passwordHash: 'hash of generated' })
      expect(replaced.toSorted()).toEqual([false, true])
      const winner = replaced[0] ? 'first' : 'second'
      expect(await passwordNow()).toBe(winner)

      const again = { account: { ...account, passwordHash: winner }, newHash: 'x', origin: '::1' }
      await run(database, `update sys_user set status = '1' where user_id = 2`)
      expect(await own.replace(again)).toBe(false)
      expect(await passwordNow()).toBe(winner)
      await run(
        database,
        `update sys_user set status = '2', deleted_at = ${deleted} where user_id = 2`,
      )
      expect(await own.replace(again)).toBe(false)
      expect(await own.find('2')).toBeUndefined()
      expect(await own.find('not an ID')).toBeUndefined()
      const rows = await sql<{ actor: string; origin: string }>`
        select actor, origin from postern_audit where action = 'user.password'`.execute(database.db)
      expect(rows.rows).toEqual([{ actor: 'editor', origin: '::1' }])
    })

    test('can be made anew under a deleted name', async () => {
      const database = await seeded(statements)
      await run(database, `update sys_user set deleted_at = ${deleted} where username = 'editor'`)

      const account = { username: 'editor', roleKey: 'viewer', passwordHash: 'new' }

      expect(await createAccountChanges(database, actor).add(account)).toEqual({ userIds: ['3'] })
      expect(await createAccounts(database).findByUsername('editor')).toMatchObject({
        caller: { userId: '3', roleKey: 'viewer' },
      })
    })
  })

  test('keep ids beyond 2^53 exact, in a caller and in the JSON of a profile', async () => {
    const database = await seeded()
    const userId = '9223372036854775807'
    const roleId = '9007199254740993'
    await run(
      database,
      `insert into sys_role (role_id, role_key, status) values (${roleId}, 'big', '1')`,
      `insert into sys_user (user_id, username, role_id, status) values (${userId}, 'big', ${roleId}, '2')`,
    )
    const accounts = createAccounts(database)

    expect(await accounts.findByUsername('big')).toEqual({
      caller: { userId, roleId, roleKey: 'big', roleName: '', username: 'big', dataScope: '' },
      passwordHash: '',
      enabled: true,
    })
    const json = JSON.stringify(await accounts.profile(userId))
    expect(json).toContain(`"userId":${userId},`)
    expect(json).toContain(`"roleIds":[${roleId}]`)
  })

  test('show a profile in the names of existing clients, without password and salt', async () => {
    const database = await seeded()
    await run(database, `update sys_user set salt = 'salty', email = 'e@example.org'`)

    const profile = JSON.parse(JSON.stringify(await createAccounts(database).profile('2')))

    expect(profile.user).toEqual({
      ...{ userId: 2, username: 'editor', nickName: 'editor', phone: '', roleId: 2, avatar: '' },
      ...{ sex: '', email: 'e@example.org', deptId: 0, postId: 0, remark: '', status: '2' },
      ...{ deptIds: [0], postIds: [0], roleIds: [2], dept: {}, createBy: 0, updateBy: 0 },
      ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
    })
    expect(profile.roles).toMatchObject([{ roleId: 2, roleKey: 'editor', dataScope: '5' }])
    expect(profile.posts).toEqual([])
    expect(JSON.stringify(profile)).not.toMatch(/salty|generated|password/)
  })

  test.each(['', '0', '99', '-1', '1 or 1=1', '1.0', '9223372036854775808', '٣'])(
    'have no profile under the id %j',
    async (userId) => {
      expect(await createAccounts(await seeded()).profile(userId)).toBeUndefined()
    },
  )

  test.each([
    ['SQL', `admin' or '1'='1`],
    ['a comment', `admin'--`],
    ['a wildcard', '%'],
    ['a NUL character', 'admin\0'],
    ['half a surrogate pair', 'admin\ud800'],
    ['ten thousand characters', 'a'.repeat(10_000)],
    ['emoji', '👩‍👩‍👧'],
    ['nothing', ''],
    ['a space behind it', 'admin '],
  ])('are not found by a name with %s', async (_, name) => {
    const database = await seeded()
    const changes = createAccountChanges(database, actor)

    expect(await createAccounts(database).findByUsername(name)).toBeUndefined()
    expect(await changes.setPassword(name, 'stolen')).toBe('no-such-user')
    expect(await changes.setEnabled(name, false)).toBe('no-such-user')
    expect(await createAccounts(database).findByUsername('admin')).toMatchObject({
      passwordHash: 'hash of generated',
      enabled: true,
    })
  })

  test('of one name are resolved to the lowest that may log in', async () => {
    const database = await seeded()
    await dropIndex(database, 'sys_user', 'sys_user_live_username')
    await run(
      database,
      `update sys_user set username = 'twin', status = '1'`,
      `insert into sys_user (username, role_id, status, password) values ('twin', 3, '2', 'mine')`,
      `insert into sys_user (username, role_id, status, password) values ('twin', 3, '2', 'other')`,
    )

    const found = await createAccounts(database).findByUsername('twin')
    expect(found).toMatchObject({ caller: { userId: '3' }, passwordHash: 'mine', enabled: true })

    await createAccountChanges(database, actor).setPassword('twin', 'changed')
    expect(await createAccounts(database).findByUsername('twin')).toMatchObject({
      caller: { userId: '3' },
      passwordHash: 'changed',
    })
  })

  test('are added once when two add the same name at the same time', async () => {
    const database = await seeded()
    await dropIndex(database, 'sys_user', 'sys_user_live_username')
    const changes = createAccountChanges(database, actor)
    const account = { username: 'racer', roleKey: 'viewer', passwordHash: 'x' }

    const outcomes = await Promise.all([1, 2, 3, 4].map(() => changes.add(account)))

    expect(outcomes.filter((outcome) => outcome === 'name-taken')).toHaveLength(3)
    expect(await createAccountDirectory(database).idsOf('racer')).toHaveLength(1)
  })

  test('are seeded once, even by two at the same time', async () => {
    const database = await server.fresh()

    const made = await Promise.all([1, 2].map(() => seedAccounts(database, hash)))

    expect(made.map((accounts) => accounts.length).sort()).toEqual([0, 2])
    expect(await seedAccounts(database, hash)).toEqual([])
    expect((await createAccountDirectory(database).list()).map(({ roleKey }) => roleKey)).toEqual([
      'admin',
      'editor',
    ])
  })

  test('are not seeded when their passwords cannot be kept, and then are at the next start', async () => {
    const database = await server.fresh()
    const keep = () => Promise.reject(new Invalid([{ file: 'a', message: 'cannot be written' }]))

    await expect(seedAccounts(database, hash, { keep })).rejects.toThrow('cannot be written')

    expect(await createAccountDirectory(database).list()).toEqual([])
    expect(await seedAccounts(database, hash)).toHaveLength(2)
  })

  test('are in the audit log when they are seeded, by the gateway, and once', async () => {
    const database = await server.fresh()
    await Promise.all(
      [1, 2].map(() => seedAccounts(database, hash, { makePassword: () => 'generated' })),
    )

    const records = (await readAudit(database, { limit: 100 })).toReversed()

    const gateway = { kind: 'gateway', name: 'postern', origin: hostname() }
    const self = { dataScope: '5' }
    expect(records).toMatchObject([
      { actor: gateway, action: 'role.add', subject: 'admin', after: { dataScope: '1' } },
      { actor: gateway, action: 'role.add', subject: 'editor', after: self },
      { actor: gateway, action: 'role.add', subject: 'viewer', after: self },
      { action: 'user.add', subject: 'admin', after: { userId: '1', role: 'admin' } },
      { action: 'user.add', subject: 'editor', after: { userId: '2', role: 'editor' } },
    ])
    expect(JSON.stringify(records)).not.toMatch(/generated|hash/)
  })

  test('are seeded although the audit log is missing', async () => {
    const database = await server.fresh()
    await run(database, 'drop table postern_audit')

    expect(await seedAccounts(database, hash)).toHaveLength(2)
  })

  test('are not seeded where every account was deleted', async () => {
    const database = await seeded()

    await run(database, 'update sys_user set deleted_at = now()')

    expect(await seedAccounts(database, hash)).toEqual([])
  })

  test('report a database that fails as a fault that holds no row', async () => {
    const database = await seeded()
    await run(database, `alter table sys_user add check (password <> 'secret hash')`)
    const account = { username: 'x', roleKey: 'viewer', passwordHash: 'secret hash' }

    const fault = await createAccountChanges(database, actor)
      .add(account)
      .catch((error: unknown) => error)

    expect(fault).toMatchObject({ name: 'Fault', part: 'database', cause: { code: '23514' } })
    const cause = (fault as Error).cause as Error
    expect(JSON.stringify({ ...cause }) + cause.message).not.toContain('secret hash')
  })
})
