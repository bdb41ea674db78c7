import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/stores/database/database.ts'
import { tableOf } from '../../src/stores/database/dialect.ts'
import { runCommand } from '../support/run-command.ts'
import { seededDatabase } from '../support/seeded-database.ts'

describe('postern role', () => {
  let directory: string
  /** A gateway's: as long as it is open, every command works through it. */
  let gateway: Database
  let settings: string

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'postern-role-'))
    const seeded = await seededDatabase(directory)
    gateway = seeded.database
    settings = seeded.settings
    const secret = 'a secret of the test that is long enough for anybody'
    await writeFile(join(directory, 'postern.yaml'), `jwt: { secret: ${secret} }\n${settings}`)
  })
  afterAll(async () => {
    await gateway.close()
    await rm(directory, { recursive: true, force: true })
  })

  const postern = (...args: readonly string[]) =>
    runCommand([...args, '--config', 'postern.yaml'], { cwd: directory })
  const role = (...args: readonly string[]) => postern('role', ...args)

  async function revokedUsers(): Promise<readonly string[]> {
    const { rows } = await sql<{ name: string }>`
      select name from postern_revocation order by name`.execute(gateway.db)
    return rows.map(({ name }) => name)
  }

  test('add takes a data scope by name or number, set changes it, remove removes it', async () => {
    expect(await role('add', 'clerk', '--name', 'Office clerk', '--data-scope', 'Self')).toEqual({
      code: 0,
      out: '',
      err: 'postern: created role clerk with data scope 5 self; it has no permissions until the policy grants some\n',
    })
    expect(await role('set', 'clerk', '--name', 'Clerk', '--data-scope', '3')).toMatchObject({
      err: 'postern: role clerk now has name Clerk and data scope 3 department\n',
    })
    expect((await role('list')).out).toMatch(/^clerk +Clerk +3 department +0 +0$/m)
    expect(await role('remove', 'clerk')).toEqual({
      ...{ code: 0, out: '', err: 'postern: removed role clerk\n' },
    })
    expect((await role('list')).out).not.toContain('clerk')
  })

  test('list and show give JSON with ids as text and the name of the data scope', async () => {
    const listed = JSON.parse((await role('list', '--output', 'json')).out)
    const shown = JSON.parse((await role('show', 'editor', '--output', 'json')).out)

    expect(listed[0]).toEqual({
      ...{ roleId: '1', roleKey: 'admin', name: 'Administrator' },
      ...{ dataScope: '1', dataScopeName: 'all' },
      ...{ users: { enabled: 1, disabled: 0 }, services: 0 },
    })
    expect(shown).toMatchObject({
      ...{ roleId: '2', dataScopeName: 'self', sameKey: [] },
      accounts: [{ username: 'editor', kind: 'user' }],
    })
  })

  test('show names the accounts, and obeys no escape sequence in a name', async () => {
    await role('add', 'guest', '--name', 'Guest', '--data-scope', 'self')
    await sql`update sys_role set role_name = ${'evil\u001b[2J'}, data_scope = 'odd'
      where role_key = 'guest'`.execute(gateway.db)
    await postern('user', 'add', 'gus', '--role', 'guest')
    await postern('user', 'add', 'gil', '--role', 'guest')
    await postern('user', 'disable', 'gil')

    const { out } = await role('show', 'guest')

    expect(out).toMatch(/^name +evil\\u\{1b\}\[2J$/m)
    expect(out).toMatch(/^data scope +odd$/m)
    expect(out).toMatch(/^users +1 \(and 1 disabled\): gus, gil$/m)
    expect(out).toMatch(/^created +20\S+Z$/m)
  })

  test('set revokes the tokens of everyone who has the role', async () => {
    await role('add', 'judge', '--name', 'Judge', '--data-scope', 'self')
    await postern('user', 'add', 'jim', '--role', 'judge')
    const { userId } = JSON.parse((await postern('user', 'list', '--output', 'json')).out).find(
      ({ username }: { username: string }) => username === 'jim',
    )
    expect(await revokedUsers()).not.toContain(`u:${userId}`)

    const changed = await role('set', 'judge', '--data-scope', 'all', '--output', 'json')

    expect(changed.err).toBe(
      'postern: role judge now has data scope 1 all; revoked the tokens of 1 user\n',
    )
    expect(JSON.parse(changed.out)).toEqual({
      ...{ done: 'set', roleKey: 'judge', dataScope: '1', tokensEnded: true },
    })
    expect(await revokedUsers()).toContain(`u:${userId}`)
  })

  test('set revokes the tokens of more users than one write carries', async () => {
    await role('add', 'crowd', '--name', 'Crowd', '--data-scope', 'self')
    const members = Array.from({ length: 1001 }, (_, at) => ({ name: `member ${at}` }))
    await sql`insert into sys_user (username, role_id, status)
      select name, (select role_id from sys_role where role_key = 'crowd'), '2'
      from ${tableOf('members', { name: 'text' }, members)}`.execute(gateway.db)

    const { err } = await role('set', 'crowd', '--name', 'Many')

    expect(err).toContain('; revoked the tokens of 1,001 users\n')
    const { rows } = await sql<{ count: unknown }>`
      select count(*) as count from postern_revocation
      join sys_user on name = concat('u:', sys_user.user_id)
      where username like 'member %'`.execute(gateway.db)
    expect(rows.map(({ count }) => Number(count))).toEqual([1001])
  })

  test('set says what to do when the tokens could not be revoked', async () => {
    await writeFile(
      join(directory, 'redis.yaml'),
      `jwt: { secret: a secret of the test that is long enough for anybody }
redis: { url: 'redis://127.0.0.1:1', connectTimeoutMs: 200 }\n${settings}`,
    )

    const args = ['role', 'set', 'editor', '--data-scope', 'self', '--config', 'redis.yaml']
    const { code, err } = await runCommand(args, { cwd: directory })

    expect(code).toBe(5)
    expect(err).toMatch(/^postern: role editor now has data scope 5 self\npostern: the tokens /)
    expect(err).toMatch(/ are still valid: .+; once that is fixed, run this command again\n$/)
  })

  test('remove names the accounts of a role in use, and what to do', async () => {
    expect(await role('remove', 'editor')).toEqual({
      code: 1,
      out: '',
      err: 'postern: role editor is in use by 1 account (editor): give each another role first, as in "postern user role editor ROLE"\n',
    })
  })

  test('records who changed what', async () => {
    await role('add', 'scribe', '--name', 'Scribe', '--data-scope', '2')

    const { rows } = await sql`
      select actor, action, "before", after from postern_audit where subject = 'scribe'`.execute(
      gateway.db,
    )
    expect(rows).toEqual([
      {
        actor: 'ada',
        action: 'role.add',
        before: null,
        after: '{"name":"Scribe","dataScope":"2"}',
      },
    ])
  })

  test.each([
    ['set', ['set', 'editr', '--name', 'x']],
    ['show', ['show', 'editr']],
    ['remove', ['remove', 'editr']],
  ])('%s suggests the key that was meant', async (_, args) => {
    const { code, err } = await role(...args)

    expect(code).toBe(1)
    expect(err).toMatch(/^postern: role "editr" does not exist .+; did you mean editor\?\n$/)
  })

  test('add refuses a key that exists, and prints that as JSON too', async () => {
    const args = ['add', 'admin', '--name', 'x', '--data-scope', '1', '--output', 'json']
    const message = 'role admin already exists: change it with "postern role set admin"'

    const { code, out, err } = await role(...args)

    expect({ code, err }).toEqual({ code: 1, err: `postern: ${message}\n` })
    expect(JSON.parse(out)).toEqual({ ok: false, errors: [{ message }] })
  })

  const scope = ['--data-scope', 'self']
  test.each([
    [
      'an unknown data scope',
      ['add', 'x', '--name', 'X', '--data-scope', 'slef'],
      'did you mean self?',
    ],
    ['data scope 0', ['set', 'editor', '--data-scope', '0'], '"0" is not a data scope'],
    ['no data scope', ['add', 'x', '--name', 'X'], 'give one of 1 all, 2 custom'],
    ['no name', ['add', 'x', ...scope], 'give the role a name'],
    [
      'too long a name',
      ['add', 'x', '--name', 'x'.repeat(129), ...scope],
      'use 1 to 128 characters',
    ],
    ['a name with a line break', ['add', 'x', '--name', 'a\nb', ...scope], 'control characters'],
    [
      'a name that reverses text',
      ['add', 'x', '--name', 'a\u202eb', ...scope],
      'text-direction marks',
    ],
    ['a key with a comma', ['add', 'a,b', '--name', 'X', ...scope], 'cannot be a role key'],
    ['a key with a space', ['add', 'a b', '--name', 'X', ...scope], 'cannot be a role key'],
    ['too long a key', ['add', 'x'.repeat(129), '--name', 'X', ...scope], 'cannot be a role key'],
    ['nothing to change', ['set', 'editor'], 'give --name, --data-scope or both'],
  ])('exits with 2 for %s', async (_, args, reason) => {
    const { code, out, err } = await role(...args)

    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(reason)
  })
})
