import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Identity, LinkRules } from '../../src/login/linked-account.ts'
import { createAccountChanges } from '../../src/stores/accounts/account-changes.ts'
import { createAccountDirectory } from '../../src/stores/accounts/account-directory.ts'
import { seedAccounts } from '../../src/stores/accounts/seed.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { createLinkedAccounts } from '../../src/stores/identities/linked-accounts.ts'
import { createServiceChanges } from '../../src/stores/services/service-changes.ts'
import { laterEra } from './go-admin-tables.ts'
import { erasIn, type RunningDatabase, testDatabases } from './test-databases.ts'

const actor = { kind: 'operator', name: 'ada', origin: 'host-1' } as const
const nothing: LinkRules = { create: false, linkByUsername: false, syncRole: false }
const create: LinkRules = { ...nothing, create: true, syncRole: true }
const byName: LinkRules = { ...nothing, linkByUsername: true, syncRole: true }

function person(username: string, more: Partial<Identity> = {}): Identity {
  return { provider: 'corp', subject: `s-${username}`, username, roleKey: 'viewer', ...more }
}

function openOn(database: Database) {
  const revoked: string[] = []
  let seconds = 1000
  const linked = createLinkedAccounts(database, {
    now: () => seconds++,
    revokeTokensOf: async (userId) => void revoked.push(userId),
  })
  return { ...linked, revoked, changes: createAccountChanges(database, actor) }
}

async function actions({ db }: Database, subject: string) {
  const { rows } = await sql<{ kind: string; action: string; after: string }>`
    select actor_kind as kind, action, after from postern_audit
    where subject = ${subject} order by id`.execute(db)
  return rows
    .filter(({ kind }) => kind === 'gateway')
    .map(({ action, after }) => [action, JSON.parse(after ?? 'null')])
}

describe.each(testDatabases())('accounts of other systems in $name', ({ name, start }) => {
  let server: RunningDatabase
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.stop())

  describe.each(
    erasIn(name, [
      { era: 'today', statements: [] },
      { era: 'of go-admin after v2.4', statements: laterEra },
    ]),
  )('with tables $era', ({ statements }) => {
    let database: Database
    let fresh: ReturnType<typeof openOn>
    beforeAll(async () => {
      database = await server.fresh(...statements)
      await seedAccounts(database, async () => 'hash')
      fresh = openOn(database)
    })

    async function idsOf(username: string) {
      return createAccountDirectory(database).idsOf(username)
    }

    test('are created at the first login, once, however many come at the same time', async () => {
      const ann = person('ann', { displayName: 'Ann\u202e\0\n Lee', email: 'ann@corp.example' })

      const logins = await Promise.all(Array.from({ length: 10 }, () => fresh.signIn(ann, create)))

      const [userId] = await idsOf('ann')
      expect(await idsOf('ann')).toHaveLength(1)
      expect(new Set(logins.map(({ caller }) => caller.userId))).toEqual(new Set([userId]))
      expect(logins[0]?.caller).toMatchObject({ username: 'ann', roleKey: 'viewer' })
      expect(await actions(database, 'ann')).toEqual([
        ['user.add', { userId, role: 'viewer' }],
        ['user.link', { provider: 'corp', issuer: 'corp', subject: 's-ann' }],
      ])
      const { rows } = await sql`select nick_name, email, left(password, 1) as mark from sys_user
        where username = 'ann'`.execute(database.db)
      expect(rows).toEqual([{ nick_name: 'Ann Lee', email: 'ann@corp.example', mark: '!' }])
      expect(fresh.revoked).not.toContain(userId)
    })

    test('are not created unless that is allowed, nor without an existing role', async () => {
      await expect(fresh.signIn(person('new'), nothing)).rejects.toMatchObject({
        kind: 'no-account',
        detail: { reason: expect.stringContaining('"s-new"') },
      })
      await expect(fresh.signIn(person('new', { roleKey: 'king' }), create)).rejects.toMatchObject({
        kind: 'no-role',
        detail: { reason: expect.stringContaining('postern role add') },
      })
      const unmapped = person('new', { roleKey: undefined })
      await expect(fresh.signIn(unmapped, create)).rejects.toMatchObject({ kind: 'no-role' })

      expect(await idsOf('new')).toEqual([])
      expect(await actions(database, 'new')).toEqual([])
    })

    test('never get a name that an account has, in any letter case', async () => {
      for (const taken of ['editor', 'Editor', 'ADMIN']) {
        await expect(fresh.signIn(person(taken), create)).rejects.toMatchObject({
          kind: 'no-account',
          detail: { reason: expect.stringMatching(/account "(editor|admin)" has that name/) },
        })
      }
    })

    test.each([
      ['', 'empty'],
      ['x'.repeat(65), 'long'],
      ['a\0b', 'with NUL'],
      ['a\u202eb', 'turned around'],
      [' admin', 'with a blank'],
      ['\ud800', 'half a character'],
    ])('never get a name that is unusable: %j', async (username) => {
      const odd = person(username, { subject: 'odd' })

      for (const rules of [create, byName]) {
        await expect(fresh.signIn(odd, rules)).rejects.toMatchObject({ kind: 'no-account' })
      }
    })

    test.each(['', '\0', 'x'.repeat(256)])('never have the subject %j', async (subject) => {
      const odd = person('odd', { subject })

      await expect(fresh.signIn(odd, create)).rejects.toMatchObject({ kind: 'no-account' })
    })

    test('are found by issuer and subject, whatever the name is by now', async () => {
      const first = person('bob', { issuer: 'https://one.example' })
      const { caller } = await fresh.signIn(first, create)

      const renamed = { ...first, username: 'robert', provider: 'renamed' }
      expect((await fresh.signIn(renamed, nothing)).caller).toEqual(caller)
      // The same subject at another issuer is another person, also under the old provider name.
      const foreign = { ...first, issuer: 'https://two.example' }
      await expect(fresh.signIn(foreign, create)).rejects.toMatchObject({ kind: 'no-account' })
      await expect(fresh.signIn({ ...first, subject: 'S-BOB' }, create)).rejects.toThrow()
    })

    test('are linked by name only where the rules say so, and then once per issuer', async () => {
      await fresh.changes.add({ username: 'cleo', roleKey: 'viewer', passwordHash: 'h' })
      const [userId] = await idsOf('cleo')

      await expect(fresh.signIn(person('cleo'), create)).rejects.toThrow()
      const { caller } = await fresh.signIn(person('cleo'), byName)
      expect(caller.userId).toBe(userId)
      expect(await actions(database, 'cleo')).toHaveLength(1)

      const second = person('cleo', { subject: 'another person' })
      await expect(fresh.signIn(second, byName)).rejects.toMatchObject({ kind: 'no-account' })
      await expect(fresh.signIn(person('Cleo', { subject: '2' }), byName)).rejects.toThrow()
    })

    test('get no account by a name that anyone can have there, but keep the one they have', async () => {
      await fresh.changes.add({ username: 'fay@x.example', roleKey: 'viewer', passwordHash: 'h' })
      const doubtful = { hasUnverifiedName: true }

      for (const [username, rules] of [
        ['fay@x.example', byName],
        ['gus@x.example', create],
      ] as const) {
        const given = person(username, doubtful)
        await expect(fresh.signIn(given, rules)).rejects.toMatchObject({
          ...{ kind: 'no-account', detail: { reason: expect.stringContaining('email_verified') } },
        })
      }
      expect(await idsOf('gus@x.example')).toEqual([])
      const { caller } = await fresh.signIn(person('fay@x.example'), byName)
      const again = await fresh.signIn(person('fay@x.example', doubtful), byName)
      expect(again.caller).toEqual(caller)
    })

    test('are not linked by name where that would take off one-time codes', async () => {
      await fresh.changes.add({ username: 'otto', roleKey: 'viewer', passwordHash: 'h' })
      const [userId = ''] = await idsOf('otto')
      await sql`insert into postern_totp (user_id, key_id, sealed, last_step)
        values (${userId}, '', 'v1.x', 0)`.execute(database.db)

      const skipping = { ...byName, skipsSecondFactor: true }
      await expect(fresh.signIn(person('otto'), skipping)).rejects.toMatchObject({
        kind: 'no-account',
      })
      expect((await fresh.signIn(person('otto'), byName)).caller.userId).toBe(userId)
      // Once linked, the provider answers for the second factor.
      expect((await fresh.signIn(person('otto'), skipping)).caller.userId).toBe(userId)
    })

    test('are never linked by name to an admin or a service account', async () => {
      const services = createServiceChanges(database, actor)
      await services.add({ name: 'ci', roleKey: 'editor', note: '' })

      for (const username of ['admin', 'ci']) {
        const given = person(username, { roleKey: undefined })
        await expect(fresh.signIn(given, byName)).rejects.toMatchObject({ kind: 'no-account' })
      }
    })

    test('refuse while disabled, and begin anew once deleted', async () => {
      const { caller } = await fresh.signIn(person('dora'), create)
      await fresh.changes.setEnabled('dora', false)
      const other = person('dora', { roleKey: 'editor' })
      await expect(fresh.signIn(other, create)).rejects.toMatchObject({ kind: 'account-disabled' })
      await fresh.changes.setEnabled('dora', true)
      await fresh.changes.remove('dora')

      await expect(fresh.signIn(person('dora'), nothing)).rejects.toMatchObject({
        kind: 'no-account',
      })
      const again = await fresh.signIn(person('dora'), create)
      expect(again.caller.userId).not.toBe(caller.userId)
    })

    test('follow the role that the groups map to, and older tokens are revoked first', async () => {
      const first = await fresh.signIn(person('eve'), create)
      const { userId } = first.caller

      const promoted = await fresh.signIn(person('eve', { roleKey: 'editor' }), create)
      expect(promoted.caller.roleKey).toBe('editor')
      expect(fresh.revoked.filter((id) => id === userId)).toHaveLength(1)
      expect(promoted.readAt).toBeGreaterThan(first.readAt ?? 0)
      expect(await actions(database, 'eve')).toContainEqual(['user.role', { role: 'editor' }])

      const own = await fresh.signIn(person('eve'), { ...create, syncRole: false })
      expect(own.caller.roleKey).toBe('editor')
      const gone = person('eve', { roleKey: 'king' })
      await expect(fresh.signIn(gone, create)).rejects.toMatchObject({ kind: 'no-role' })
      // The person no longer has the role of the older tokens.
      expect(fresh.revoked.filter((id) => id === userId)).toHaveLength(2)
    })

    test('never lose the last enabled admin, who is refused instead', async () => {
      const { caller } = await fresh.signIn(person('root', { roleKey: 'admin' }), create)
      await fresh.changes.setEnabled('admin', false)

      await expect(fresh.signIn(person('root'), create)).rejects.toMatchObject({
        kind: 'no-role',
        detail: { reason: expect.stringContaining('no enabled admin') },
      })
      await fresh.changes.setEnabled('admin', true)
      expect(await fresh.signIn(person('root'), create)).toMatchObject({
        caller: { userId: caller.userId, roleKey: 'viewer' },
      })
    })

    test('change together with an operator: the login tells what is true afterwards', async () => {
      const meanwhile = createLinkedAccounts(database, {
        now: () => 5000,
        revokeTokensOf: async () => void (await fresh.changes.setEnabled('fay', false)),
      })
      await fresh.signIn(person('fay'), create)

      const login = meanwhile.signIn(person('fay', { roleKey: 'editor' }), create)
      await expect(login).rejects.toMatchObject({ kind: 'account-disabled' })
    })

    test('are local only with a password of their own and without a link', async () => {
      await fresh.changes.add({ username: 'gil', roleKey: 'viewer', passwordHash: 'h' })
      await fresh.signIn(person('hal'), create)

      expect(await fresh.isLocal('gil', 'corp')).toBe(true)
      await fresh.signIn(person('gil'), byName)
      expect(await fresh.isLocal('gil', 'corp')).toBe(false)
      expect(await fresh.isLocal('gil', 'other')).toBe(true)
      expect(await fresh.isLocal('hal', 'other')).toBe(false)
      expect(await fresh.isLocal('unknown', 'corp')).toBe(false)
      expect(await fresh.isLocal('\0', 'corp')).toBe(false)
    })
  })

  test('need their table', async () => {
    const database = await server.fresh()
    const shapes = async () => ({ ...(await database.shapes()), optional: new Set<never>() })
    const { signIn } = openOn({ ...database, shapes })

    await expect(signIn(person('ann'), create)).rejects.toMatchObject({
      part: 'database',
      message: expect.stringContaining('postern db migrate'),
    })
  })
})
