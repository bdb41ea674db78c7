import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccountChanges } from '../../src/stores/accounts/account-changes.ts'
import { createAccounts } from '../../src/stores/accounts/accounts.ts'
import { seedRoles } from '../../src/stores/accounts/seed.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { createServiceChanges } from '../../src/stores/services/service-changes.ts'
import { createServiceDirectory } from '../../src/stores/services/service-directory.ts'
import { createServiceTokens, markServiceTokens } from '../../src/stores/services/service-tokens.ts'
import { laterEra } from './go-admin-tables.ts'
import { erasIn, type RunningDatabase, testDatabases } from './test-databases.ts'

const actor = { kind: 'operator', name: 'ada', origin: 'host-1' } as const
const hour = 3_600_000

function openOn(database: Database) {
  return {
    database,
    changes: createServiceChanges(database, actor),
    directory: createServiceDirectory(database),
    tokens: createServiceTokens(database, actor),
  }
}

function tokenFor(userId: string, id: string) {
  const issuedAt = Date.now()
  const times = { issuedAt, expiresAt: issuedAt + hour }
  return { id, userId, roleKey: 'editor', note: 'n', kid: undefined, issuedBy: 'ada', ...times }
}

describe.each(testDatabases())('service accounts in $name', ({ name, start }) => {
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
    let fresh: ReturnType<typeof openOn>
    beforeAll(async () => {
      const database = await server.fresh(...statements)
      await seedRoles(database, actor)
      fresh = openOn(database)
    })

    test('are found by their name and never by a login', async () => {
      const { database, changes, directory } = fresh

      const added = await changes.add({ name: 'ci', roleKey: 'editor', note: 'a note' })
      // As another product could: the row alone keeps the account from logging in.
      await sql`update sys_user set status = '2' where username = 'ci'`.execute(database.db)

      const { userId } = added as { userId: string }
      expect(await directory.callerOf('ci')).toMatchObject({ userId, roleKey: 'editor' })
      expect(await createAccounts(database).findByUsername('ci')).toBeUndefined()
      expect(await createAccounts(database).profile(userId)).toMatchObject({
        user: { username: 'ci' },
      })
      const users = createAccountChanges(database, actor)
      expect(await users.setEnabled('ci', true)).toBe('service-account')
      expect(await users.setPassword('ci', 'hash')).toBe('service-account')
    })

    test('share the names of people, and change once for each audit row', async () => {
      const { database, changes, directory } = fresh
      const users = createAccountChanges(database, actor)
      await users.add({ username: 'ann', roleKey: 'viewer', passwordHash: 'h' })

      expect(await changes.add({ name: 'ann', roleKey: 'editor', note: '' })).toBe('name-taken')
      expect(await changes.add({ name: 'bot', roleKey: 'king', note: '' })).toBe('no-such-role')
      expect(await changes.setRole('ann', 'editor')).toBe('no-such-service')
      expect(await changes.remove('ann')).toBe('no-such-service')
      expect(await directory.callerOf('ann')).toBe('no-such-service')
      const { userId } = (await changes.add({ name: 'bot', roleKey: 'editor', note: 'a' })) as {
        userId: string
      }
      expect(await changes.setRole('bot', 'king')).toBe('no-such-role')
      expect(await changes.setRole('bot', 'viewer')).toEqual({ userId })
      const named = async () => (await directory.list()).filter(({ name }) => name === 'bot')
      expect(await named()).toMatchObject([{ userId, roleKey: 'viewer' }])
      expect(await changes.remove('bot')).toEqual({ userId })
      expect(await named()).toEqual([])
      expect(await changes.add({ name: 'bot', roleKey: 'editor', note: '' })).not.toEqual({
        userId,
      })

      const { rows } = await sql<{ action: string; before: string; after: string }>`
        select action, "before", after from postern_audit where subject = 'bot' order by id`.execute(
        database.db,
      )
      expect(rows.map(({ action }) => action)).toEqual([
        ...['service.add', 'service.role', 'service.remove', 'service.add'],
      ])
      expect(rows.map(({ before }) => JSON.parse(before ?? 'null'))).toEqual([
        ...[null, { role: 'editor' }, { userId, role: 'viewer' }, null],
      ])
    })

    test('keep their tokens listed, newest first, also after they were removed', async () => {
      const { database, changes, tokens } = fresh
      const added = await changes.add({ name: 'job', roleKey: 'editor', note: '' })
      const { userId } = added as { userId: string }
      await tokens.add(tokenFor(userId, 'one'), 'job')
      await tokens.add({ ...tokenFor(userId, 'two'), issuedAt: Date.now() + 5, kid: 'k' }, 'job')

      expect(await tokens.list()).toMatchObject([
        { id: 'two', service: 'job', kid: 'k', seenAt: undefined, revokedAt: undefined },
        { id: 'one', service: 'job', kid: undefined, issuedBy: 'ada', note: 'n' },
      ])
      const { rows } = await sql<{ after: string }>`
        select after from postern_audit where action = 'token.issue' order by id`.execute(
        database.db,
      )
      const keys = rows.map(({ after }) => JSON.parse(after).key)
      expect(keys).toEqual(['jwt.secret', 'k'])
      expect(await tokens.list('other')).toEqual([])
      const minute = 60_000
      await markServiceTokens(database, [{ id: 'one', seenAt: 2 * minute }])
      await markServiceTokens(database, [
        ...[
          { id: 'one', seenAt: minute },
          { id: 'one', seenAt: 1 },
          { id: 'none', seenAt: 1 },
        ],
      ])
      expect((await tokens.list()).map(({ seenAt }) => seenAt)).toEqual([undefined, 2 * minute])
      const one = await tokens.find('one')
      if (one !== undefined) await tokens.revoked(one)
      expect((await tokens.find('one'))?.revokedAt).toBeGreaterThan(0)
      expect((await tokens.find('two'))?.revokedAt).toBeUndefined()
      await changes.remove('job')
      expect((await tokens.list('job')).map(({ revokedAt }) => typeof revokedAt)).toEqual([
        ...['number', 'number'],
      ])
    })
  })

  test('say how to create their tables', async () => {
    const { database } = openOn(await server.fresh())
    const { optional, ...shapes } = await database.shapes()
    const left = new Set([...optional].filter((name) => !name.startsWith('postern_service')))
    const { changes, directory, tokens } = openOn({
      ...database,
      shapes: async () => ({ ...shapes, optional: left }),
    })

    const missing = /table postern_service_account is missing, .* run "postern db migrate"/
    await expect(changes.remove('ci')).rejects.toThrow(missing)
    await expect(directory.list()).rejects.toThrow(missing)
    await expect(tokens.list()).rejects.toThrow(missing)
    expect(await directory.callerOf('ci')).toBe('no-such-service')
  })
})
