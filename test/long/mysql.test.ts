import { createServer, type Socket } from 'node:net'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createAccountChanges } from '../../src/stores/accounts/account-changes.ts'
import { createAccountDirectory } from '../../src/stores/accounts/account-directory.ts'
import { createAccounts } from '../../src/stores/accounts/accounts.ts'
import { createRoleChanges } from '../../src/stores/accounts/role-changes.ts'
import { createRoleDirectory } from '../../src/stores/accounts/role-directory.ts'
import { seedAccounts } from '../../src/stores/accounts/seed.ts'
import { readAudit } from '../../src/stores/audit/read-audit.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { createLinkChanges } from '../../src/stores/identities/link-changes.ts'
import { createUsedOnce } from '../../src/stores/identities/used-once.ts'
import { createDatabaseLockouts } from '../../src/stores/limits/database-lockouts.ts'
import { readCasbinTable } from '../../src/stores/policies/casbin-rows.ts'
import { createMoveTable } from '../../src/stores/policies/moves/move-table.ts'
import { createDatabaseRevocations } from '../../src/stores/revocations/database-revocations.ts'
import { createEnrollmentChanges } from '../../src/stores/second-factor/enrollment-changes.ts'
import { createSecondFactorStore } from '../../src/stores/second-factor/second-factor-store.ts'
import { createServiceChanges } from '../../src/stores/services/service-changes.ts'
import { createServiceDirectory } from '../../src/stores/services/service-directory.ts'
import { createDatabaseSessions } from '../../src/stores/sessions/database-sessions.ts'
import { findMariadb, type MariadbServer, startMariadb } from '../support/mariadb-server.ts'

if (findMariadb() === undefined) process.stderr.write('MariaDB is not installed: skipped\n')

const limits = { directory: '', poolSize: 4, connectTimeoutMs: 5000, statementTimeoutMs: 5000 }
const actor = { kind: 'operator', name: 'ada', origin: 'host-1' } as const

/** As go-admin's gorm makes them on MySQL. */
const goAdminRole = `create table sys_role (role_id bigint auto_increment primary key,
  role_name varchar(128), status varchar(4), role_key varchar(128), role_sort bigint,
  flag varchar(128), remark varchar(255), admin tinyint(1), data_scope varchar(128),
  create_by bigint, update_by bigint, created_at datetime(3), updated_at datetime(3),
  deleted_at datetime(3)) character set utf8mb4 collate utf8mb4_general_ci`
const goAdminUser = `create table sys_user (user_id bigint auto_increment primary key,
  username varchar(64), password varchar(128), nick_name varchar(128), phone varchar(11),
  role_id bigint, salt varchar(255), avatar varchar(255), sex varchar(255), email varchar(128),
  dept_id bigint, post_id bigint, remark varchar(255), status varchar(4), create_by bigint,
  update_by bigint, created_at datetime(3), updated_at datetime(3), deleted_at datetime(3))
  character set utf8mb4 collate utf8mb4_general_ci`

describe.skipIf(findMariadb() === undefined)('MariaDB', () => {
  let server: MariadbServer
  let databases = 0
  beforeAll(async () => {
    server = await startMariadb()
  })
  afterAll(() => server.stop())

  async function fresh(statements: readonly string[] = [], more = {}): Promise<Database> {
    const name = `trap_${databases++}`
    await server.query(`create database ${name}`)
    for (const statement of statements) await server.query(statement, name)
    const database = await openDatabase({ url: server.urlOf(name), ...limits, ...more })
    onTestFinished(database.close)
    await seedAccounts(database, async (password) => `hash of ${password}`)
    return database
  }

  test('never takes one name for another, on go-admin’s tables too', async () => {
    for (const statements of [[], [goAdminUser]]) {
      const database = await fresh(statements)
      const accounts = createAccounts(database)
      expect(await accounts.findByUsername('admin')).toMatchObject({ enabled: true })
      const others = ['Admin', 'ádmin', 'admin ', 'ａdmin', 'admin\u200b', '😀', '']
      for (const name of others) expect(await accounts.findByUsername(name)).toBeUndefined()
      const changes = createAccountChanges(database, actor)
      const hash = { roleKey: 'editor', passwordHash: 'x' }
      expect(await changes.add({ username: 'admin', ...hash })).toBe('name-taken')
      expect(await changes.add({ username: 'Admin', ...hash })).toHaveProperty('userIds')
      expect((await accounts.findByUsername('Admin'))?.caller.roleKey).toBe('editor')
      expect((await accounts.findByUsername('admin'))?.caller.roleKey).toBe('admin')
    }
  })

  const similar = ['Admin', 'ádmin', 'admin ', 'ADMIN\t', 'ａdmin', 'admin\u200b', 'admin\u0301']

  test('changes no account, role, session or lock-out of a name that is only similar', async () => {
    const database = await fresh([goAdminRole, goAdminUser])
    const changes = createAccountChanges(database, actor)
    const roles = createRoleChanges(database, actor)
    const enrollments = createEnrollmentChanges(database, actor)
    const links = createLinkChanges(database, actor)
    const services = createServiceChanges(database, actor)
    await services.add({ name: 'robot', roleKey: 'viewer', note: '' })
    const before = await sql`select * from sys_user order by user_id`.execute(database.db)
    const directory = createAccountDirectory(database)

    for (const name of similar) {
      expect(await changes.setPassword(name, 'stolen')).toBe('no-such-user')
      expect(await changes.setEnabled(name, false)).toBe('no-such-user')
      expect(await changes.setRole(name, 'viewer')).toBe('no-such-user')
      expect(await changes.rename(name, 'other')).toBe('no-such-user')
      expect(await changes.remove(name)).toBe('no-such-user')
      expect(await changes.setRole('editor', name)).toBe('no-such-role')
      expect(await roles.set(name, { dataScope: '1' })).toBe('no-such-role')
      expect(await roles.remove(name)).toBe('no-such-role')
      expect(await createRoleDirectory(database).show(name)).toEqual([])
      expect(await directory.idsOf(name)).toEqual([])
      expect(await directory.show(name)).toEqual([])
      expect(await enrollments.remove({ username: name, userId: '1' })).toBe('no-such-user')
      const identity = { provider: 'corp', issuer: 'https://corp', subject: 's' }
      expect(await links.link(name, identity)).toBe('no-such-user')
    }
    for (const name of ['Robot', 'robot ', 'róbot']) {
      expect(await createServiceDirectory(database).callerOf(name)).toBe('no-such-service')
      expect(await services.setRole(name, 'admin')).toBe('no-such-service')
      expect(await services.remove(name)).toBe('no-such-service')
    }

    const after = await sql`select * from sys_user order by user_id`.execute(database.db)
    expect(after.rows).toEqual(before.rows)
    expect(await readAudit(database, { actor: 'ada', limit: 10 })).toHaveLength(1)
  })

  test('keeps sessions, lock-outs, identities and revocations of similar names apart', async () => {
    const database = await fresh([goAdminRole, goAdminUser])
    const sessions = createDatabaseSessions(database)
    const now = Date.now()
    const session = { roleKey: 'admin', address: '::1', agent: '', issuedAt: now, seenAt: now }
    const names = ['admin', ...similar]
    const ids = names.map((_, at) => `${'aAáÁ'[at % 4]}${' '.repeat(at >> 2)}`)
    const rows = ids.map((id, at) => ({
      ...{ ...session, id, userId: id, username: names[at] ?? '', expiresAt: now + 60_000 },
    }))
    await sessions.add(rows)
    const lockouts = createDatabaseLockouts(database)
    await lockouts
      .recordsOf('gateway')
      .add(ids.map((key) => ({ key, kind: 'account', sealed: 'x', leftMs: 60_000 })))
    const revocations = createDatabaseRevocations(database)
    await revocations.append(
      [{ kind: 'token', id: 'a', userId: 'a', issuedAt: now, until: now + 60_000 }],
      'before',
    )

    for (const [at, id] of ids.entries()) {
      expect(await sessions.list(id)).toMatchObject([{ id, username: names[at] }])
    }
    await sessions.remove([{ id: 'A', userId: 'A' }])
    expect((await sessions.list()).map(({ id }) => id).toSorted()).toEqual(
      ids.filter((id) => id !== 'A').toSorted(),
    )
    const entry = { actor, action: 'login.unlock', subject: 'x' } as const
    expect(await lockouts.clear({ keys: ['A'], related: [] }, entry)).toEqual(['A'])
    expect(await lockouts.secondsLeft('a')).toBeGreaterThan(0)
    expect(await lockouts.secondsLeft('A')).toBe(0)
    expect((await lockouts.list()).map(({ key }) => key)).toHaveLength(ids.length - 1)
    expect((await revocations.read(undefined))?.revocations).toMatchObject([{ id: 'a' }])
  })

  test('says that a name is taken where go-admin’s unique index compares without letter case', async () => {
    const mark = 'modify deleted_at bigint not null default 0'
    const database = await fresh([
      goAdminRole,
      `alter table sys_role ${mark}, add unique key (role_key, deleted_at)`,
      goAdminUser,
      `alter table sys_user ${mark}, add unique key (username, deleted_at)`,
    ])
    const changes = createAccountChanges(database, actor)
    const account = { username: 'Admin', roleKey: 'viewer', passwordHash: 'x' }

    expect(await changes.add(account)).toBe('name-taken')
    expect(await changes.rename('editor', 'ADMIN ')).toBe('name-taken')
    const roles = createRoleChanges(database, actor)
    expect(await roles.add('Viewer', { name: 'x', dataScope: '5' })).toBe('key-taken')
    expect(
      await createServiceChanges(database, actor).add({ ...account, name: 'Editor', note: '' }),
    ).toBe('name-taken')
    expect(await readAudit(database, { actor: 'ada', limit: 10 })).toEqual([])
    expect(await changes.rename('editor', 'Editor')).toHaveProperty('userIds')
  })

  test('keeps every digit of an ID', async () => {
    const { db, ...rest } = await fresh()
    const database = { db, ...rest }
    const id = '9007199254740993'
    await sql`update sys_user set user_id = ${id} where username = 'editor'`.execute(db)
    const accounts = createAccounts(database)
    expect((await accounts.findByUsername('editor'))?.caller.userId).toBe(id)
    expect(JSON.stringify(await accounts.profile(id))).toContain(id)
    expect(await accounts.profile('9007199254740992')).toBeUndefined()
  })

  test('changes all or nothing when a lock is not free in time', async () => {
    const database = await fresh([], { statementTimeoutMs: 1000 })
    const changes = createAccountChanges(database, actor)
    await database.db.transaction().execute(async (inside) => {
      await sql`select * from sys_user where username = 'editor' for update`.execute(inside)
      await expect(changes.setEnabled('editor', false)).rejects.toThrow(/lock|time|interrupted/i)
    })
    expect((await createAccounts(database).findByUsername('editor'))?.enabled).toBe(true)
    expect(await readAudit(database, { actor: 'ada', limit: 10 })).toEqual([])
    expect(await changes.setEnabled('editor', false)).toHaveProperty('userIds')
    expect(await readAudit(database, { actor: 'ada', limit: 10 })).toHaveLength(1)
  })

  test('rejects changes of the audit log, and values that do not fit', async () => {
    const { db } = await fresh()
    await expect(sql`update postern_audit set actor = 'x'`.execute(db)).rejects.toThrow(
      'append-only',
    )
    await expect(sql`delete from postern_audit`.execute(db)).rejects.toThrow('append-only')
    const long = 'x'.repeat(200)
    await expect(sql`update sys_user set password = ${long}`.execute(db)).rejects.toThrow(
      'too long',
    )
  })

  const restricted = 'restricted'
  let users = 0
  /** One migrated database, opened by a new user who has only these rights to each table. */
  async function openedAs(rights: (table: string) => string, onUnguardedAudit = () => {}) {
    if (users === 0) {
      await server.query(`create database ${restricted}`)
      const migrated = await openDatabase({ url: server.urlOf(restricted), ...limits })
      await seedAccounts(migrated, async (password) => `hash of ${password}`)
      await migrated.close()
    }
    const user = `user_${users++}`
    await server.query(`create user ${user}@'127.0.0.1'`)
    const tables = await server.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = '${restricted}'`,
    )
    for (const table of tables) {
      const granted = rights(table.name)
      if (granted !== '') {
        await server.query(`grant ${granted} on ${restricted}.${table.name} to ${user}@'127.0.0.1'`)
      }
    }
    const url = server.urlOf(restricted, user)
    const database = await openDatabase({ url, ...limits, onUnguardedAudit })
    onTestFinished(database.close)
    return database
  }

  const everything = 'select, insert, update, delete'

  test('with a table of one-time codes that may not be read lets no one in without a code', async () => {
    const database = await openedAs((table) => (table === 'postern_totp' ? '' : everything))
    const store = createSecondFactorStore(database)
    await expect(store.find('1')).rejects.toThrow('denied')
    await server.query('rename table postern_totp to hidden', restricted)
    // A user with rights to single tables cannot know that it is gone.
    await expect(store.find('1')).rejects.toThrow('denied')
    const all = await openDatabase({ url: server.urlOf(restricted), ...limits, migrate: 'never' })
    onTestFinished(all.close)
    expect(await createSecondFactorStore(all).find('1')).toBeUndefined()
    await server.query('rename table hidden to postern_totp', restricted)
  })

  test.each(['postern_revocation', 'postern_used_once', 'postern_audit', 'postern_policy_move'])(
    'is a fault when %s may not be read',
    async (denied) => {
      const use = async () => {
        const database = await openedAs((table) => (table === denied ? '' : everything))
        if (denied === 'postern_used_once') return createUsedOnce(database).claim('x', Date.now())
        if (denied === 'postern_policy_move') return createMoveTable(database, '').list(1)
        return createAccountChanges(database, actor).setEnabled('editor', false)
      }
      await expect(use()).rejects.toThrow(/denied|missing/)
    },
  )

  test('says when the audit log can be changed, and only then', async () => {
    const warned = async (audit: string) => {
      let warnings = 0
      const rights = (table: string) => (table === 'postern_audit' ? audit : everything)
      const database = await openedAs(rights, () => void warnings++)
      expect(await readAudit(database, { actor: '', limit: 10 })).toEqual([])
      return warnings
    }
    // The triggers exist, and this user cannot see them.
    expect(await warned(everything)).toBe(0)
    for (const event of ['update', 'delete']) {
      await server.query(`drop trigger postern_audit_no_${event}`, restricted)
    }
    expect(await warned(everything)).toBe(1)
    expect(await warned('select, insert')).toBe(0)
    expect(await warned(`${everything}, trigger`)).toBe(0)
  })

  test('is migrated once by several at the same time, and after an interruption', async () => {
    const name = `trap_${databases++}`
    await server.query(`create database ${name}`)
    const open = () => openDatabase({ url: server.urlOf(name), ...limits })
    const opened: Database[] = await Promise.all([open(), open(), open()])
    await server.query('drop trigger postern_audit_no_delete', name)
    await server.query('drop table postern_session', name)
    opened.push(await open())
    const [{ triggers } = { triggers: 0 }] = await server.query<{ triggers: number }>(
      `select count(*) as triggers from information_schema.triggers where trigger_schema = '${name}'`,
    )
    expect(triggers).toBe(2)
    expect((await opened[3]?.shapes())?.optional).toContain('postern_session')
    for (const { close } of opened) await close()
  })

  test('gives its policy rows to import', async () => {
    const { db } = await fresh([
      'create table sys_casbin_rule (id bigint auto_increment primary key, ptype varchar(100), v0 varchar(100), v1 varchar(100), v2 varchar(100))',
      "insert into sys_casbin_rule (ptype, v0, v1, v2) values ('p', 'clerk', '/api/v1/x', 'GET')",
    ])
    expect(await readCasbinTable(db)).toMatchObject([
      { ptype: 'p', values: ['clerk', '/api/v1/x', 'GET'] },
    ])
  })

  test('is a fault, not a wait for ever, when its pool is busy', async () => {
    const { db } = await fresh([], { poolSize: 1, connectTimeoutMs: 500 })
    await db.connection().execute(async () => {
      await expect(sql`select 1`.execute(db)).rejects.toThrow('timeout exceeded')
    })
    expect((await sql`select 1 as one`.execute(db)).rows).toHaveLength(1)
  })

  test('that stops answering is a fault, and is used again once it answers', async () => {
    const database = await fresh([], { statementTimeoutMs: 500, connectTimeoutMs: 500 })
    await server.pause()
    try {
      await expect(createAccounts(database).findByUsername('admin')).rejects.toThrow()
    } finally {
      server.resume()
    }
    expect(await createAccounts(database).findByUsername('admin')).toBeDefined()
  })
})

test('a server that accepts and says nothing is a fault', async () => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => void sockets.push(socket))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const address = silent.address()
  const port = typeof address === 'object' ? address?.port : 0
  const url = `mysql://root@127.0.0.1:${port}/x`
  await expect(openDatabase({ url, ...limits, connectTimeoutMs: 300 })).rejects.toThrow()
  for (const socket of sockets) socket.destroy()
  silent.close()
})
