import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { sealLockout } from '../../src/login/lockouts/sealed-lockout.ts'
import { createPasswordCredentials } from '../../src/login/methods/password/open-password.ts'
import { createPasswordHash } from '../../src/login/password-hash.ts'
import { catalogs } from '../../src/messages/catalogs.ts'
import { createAccounts } from '../../src/stores/accounts/accounts.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { createDatabaseLockouts } from '../../src/stores/limits/database-lockouts.ts'
import { createDatabaseSessions } from '../../src/stores/sessions/database-sessions.ts'
import { createLastingKey } from '../../src/token/derived-keys.ts'
import { secretAlone } from '../../src/token/key-set.ts'
import { secretKey } from '../../src/token/keys.ts'
import { runCommand } from '../support/run-command.ts'
import { seededDatabase } from '../support/seeded-database.ts'

const secret = 'a secret of the test that is long enough for anybody'
const noKing =
  'postern: role "king" does not exist (defined: admin, editor, viewer); ' +
  'to create it, run "postern role add king --name King --data-scope self"\n'
const noUser = (name: string) =>
  `postern: user ${name} does not exist: "postern user list" shows all users\n`

describe('postern user', () => {
  let directory: string
  /** A gateway's: as long as it is open, every command works through it. */
  let gateway: Database
  let settings: string

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'postern-user-'))
    const seeded = await seededDatabase(directory)
    gateway = seeded.database
    settings = seeded.settings
    await writeFile(join(directory, 'postern.yaml'), `jwt: { secret: ${secret} }\n${settings}`)
  })
  afterAll(async () => {
    await gateway.close()
    await rm(directory, { recursive: true, force: true })
  })

  function user(args: readonly string[], stdin = '', cwd = directory) {
    return runCommand(['user', ...args, '--config', 'postern.yaml'], { cwd, stdin })
  }

  async function logIn(username: string, password: string) {
    const { findByUsername } = createAccounts(gateway)
    const verify = createPasswordCredentials(
      findByUsername,
      createPasswordHash({ concurrency: 1, queue: 1 }),
    )
    return verify({ username, password })
  }

  test('add makes an account and prints its password, once and alone on stdout', async () => {
    const { code, out, err } = await user(['add', 'alice', '--role', 'editor'])

    expect(code).toBe(0)
    expect(out).toMatch(/^[a-zA-Z2-9]{16}\n$/)
    expect(err).toBe('postern: created user alice with role editor\n')
    expect(await logIn('alice', out.trim())).toMatchObject({ username: 'alice', roleKey: 'editor' })
  })

  test('add takes a password from stdin and shows none', async () => {
    const added = await user(
      ['add', 'bob', '--role', 'viewer', '--password-stdin'],
      'from stdin ☕\n',
    )

    expect(added).toEqual({
      code: 0,
      out: '',
      err: 'postern: created user bob with role viewer\n',
    })
    expect(await logIn('bob', 'from stdin ☕')).toMatchObject({ username: 'bob' })
  })

  test('passwd replaces the password', async () => {
    const before = (await user(['add', 'carol', '--role', 'viewer'])).out.trim()

    const changed = await user(['passwd', 'carol'])

    expect(changed).toMatchObject({
      code: 0,
      err: 'postern: set a new password for user carol; revoked all tokens issued until now\n',
    })
    expect(await logIn('carol', before)).toBeUndefined()
    expect(await logIn('carol', changed.out.trim())).toMatchObject({ username: 'carol' })
  })

  test('disable ends logging in', async () => {
    const password = (await user(['add', 'dave', '--role', 'viewer'])).out.trim()

    expect(await user(['disable', 'dave'])).toEqual({
      code: 0,
      out: '',
      err: 'postern: disabled user dave; revoked all tokens issued until now\n',
    })
    expect(await logIn('dave', password)).toBeUndefined()
  })

  test('enable lets a disabled account log in again', async () => {
    const password = (await user(['add', 'erin', '--role', 'viewer'])).out.trim()
    await user(['disable', 'erin'])

    expect(await user(['enable', 'erin'])).toEqual({
      code: 0,
      out: '',
      err: 'postern: enabled user erin\n',
    })
    expect(await logIn('erin', password)).toMatchObject({ username: 'erin' })
  })

  test('role gives another role', async () => {
    const password = (await user(['add', 'fred', '--role', 'viewer'])).out.trim()

    const changed = await user(['role', 'fred', 'editor', '--output', 'json'])

    expect(JSON.parse(changed.out)).toEqual({ done: 'role', username: 'fred', tokensEnded: true })
    expect(await logIn('fred', password)).toMatchObject({ roleKey: 'editor' })
  })

  test('gives the password inside the JSON where that is asked for', async () => {
    const { out } = await user(['add', 'gina', '--role', 'viewer', '--output', 'json'])

    const { password, ...rest } = JSON.parse(out)
    expect(rest).toEqual({ done: 'add', username: 'gina', tokensEnded: false })
    expect(await logIn('gina', password)).toMatchObject({ username: 'gina' })
  })

  test('list shows names, roles and status, and obeys no escape sequence in a name', async () => {
    await gateway.db
      .insertInto('sys_user')
      .values({ username: 'evil\u001b[2J\u202e', status: '1', deleted_at: null })
      .execute()

    const { code, out } = await user(['list'])

    expect(code).toBe(0)
    const lines = out.split('\n')
    expect(lines[0]).toMatch(/^ID +NAME +ROLE +STATUS +KIND +OTP$/)
    expect(lines[1]).toMatch(/^1 +admin +admin +enabled +user +no$/)
    expect(lines.at(-2)).toMatch(/^\d+ +evil\\u\{1b\}\[2J\\u\{202e\} +disabled +user +no$/)
  })

  test('list gives JSON with ids as text', async () => {
    const { code, out } = await user(['list', '--output', 'json'])

    expect(code).toBe(0)
    expect(JSON.parse(out)[1]).toEqual({
      ...{ userId: '2', username: 'editor', roleKey: 'editor', enabled: true, kind: 'user' },
      secondFactor: false,
    })
    expect(out).not.toContain('$2')
  })

  test('list narrows by how names begin and how many', async () => {
    const names = async (...args: readonly string[]) => {
      const { out } = await user(['list', '--output', 'json', ...args])
      return JSON.parse(out).map(({ username }: { username: string }) => username)
    }

    expect(await names('--starts-with', 'ADM')).toEqual(['admin'])
    expect(await names('--starts-with', '%')).toEqual([])
    expect(await names('--starts-with', 'a\0')).toEqual([])
    expect(await names('--limit', '1')).toEqual(['admin'])
  })

  test('works where no gateway runs', async () => {
    if (gateway.kind !== 'embedded') return
    const alone = join(directory, 'alone')
    await cp(inject('databaseTemplate'), join(alone, 'data'), { recursive: true })
    await cp(join(directory, 'postern.yaml'), join(alone, 'postern.yaml'))

    const added = await user(['add', 'alice', '--role', 'editor'], '', alone)
    const { out } = await user(['list', '--output', 'json'], '', alone)

    expect(added.code).toBe(0)
    expect(JSON.parse(out)).toHaveLength(3)
  })

  test.each([
    ['an unknown name', ['passwd', 'nobody'], noUser('"nobody"')],
    ['an unknown name to disable', ['disable', 'a\nb'], noUser('"a\\nb"')],
    ['a role that is unknown', ['role', 'admin', 'king'], noKing],
    ['an unknown name to give a role', ['role', 'zed', 'editor'], noUser('"zed"')],
    [
      'a taken name',
      ['add', 'admin', '--role', 'viewer'],
      'postern: user admin already exists: choose another name\n',
    ],
    ['an unknown role', ['add', 'eve', '--role', 'king'], noKing],
  ])('says no to %s, in one line and with exit code 1', async (_, args, err) => {
    expect(await user(args)).toEqual({ code: 1, out: '', err })
  })

  test('show gives the account without its password', async () => {
    await user(['add', 'iris', '--role', 'viewer'])

    const { code, out } = await user(['show', 'iris'])
    const shown = JSON.parse((await user(['show', 'iris', '--output', 'json'])).out)

    expect(code).toBe(0)
    expect(out).toMatch(
      /^id +\d+\nname +iris\nkind +user\nrole +viewer \(Viewer\)\ndata scope +5 self\nstatus +enabled\nlocked out +no\nsessions +0\ncreated +20\S+Z\nupdated +20\S+Z\none-time codes +no\n$/,
    )
    expect(shown).toMatchObject({
      ...{ username: 'iris', kind: 'user', roleKey: 'viewer', roleName: 'Viewer', enabled: true },
      ...{ dataScope: '5', dataScopeName: 'self', lockouts: [], sessions: 0, sameName: [] },
      ...{ secondFactor: false, oneTimeCodes: null },
      ...{ userId: expect.stringMatching(/^\d+$/), createdAt: expect.stringMatching(/Z$/) },
    })
    expect(shown).toMatchObject({ hasPassword: true, links: [] })
    expect(JSON.stringify(shown)).not.toMatch(/"password|salt|\$2[aby]\$/i)
  })

  test('show gives the open lock-outs and the number of sessions', async () => {
    await user(['add', 'Mona', '--role', 'viewer'])
    const { userId } = JSON.parse((await user(['show', 'Mona', '--output', 'json'])).out)
    const keys = secretAlone(await secretKey(secret))
    const sealKey = createLastingKey(() => keys, 'lockout')()
    const locked = (kind: 'account' | 'pair', name: string, block?: string) => {
      const key = `${kind} of ${name}`
      const from = block === undefined ? {} : { block }
      const lockout = { key, kind, name, attempts: 7, lockoutMs: 60_000, ...from }
      return { key, kind, sealed: sealLockout(sealKey, lockout), leftMs: 60_000 }
    }
    await createDatabaseLockouts(gateway)
      .recordsOf('gateway')
      .add([locked('account', 'mona'), locked('pair', 'MONA', '192.0.2.7'), locked('account', 'x')])
    const session = {
      ...{ userId, username: 'Mona', roleKey: 'viewer', address: '::1', agent: 'curl' },
      ...{ issuedAt: Date.now() + 1000, expiresAt: Date.now() + 60_000, seenAt: Date.now() },
    }
    await createDatabaseSessions(gateway).add(['a', 'b'].map((id) => ({ ...session, id })))

    const { out } = await user(['show', 'Mona'])
    const shown = JSON.parse((await user(['show', 'Mona', '--output', 'json'])).out)

    expect(out).toMatch(/^locked out +until 20\S+Z$/m)
    expect(out).toMatch(/^locked out +logins from 192\.0\.2\.7, until 20\S+Z$/m)
    expect(out).toMatch(/^sessions +2$/m)
    expect(shown.lockouts).toHaveLength(2)
    expect(shown.lockouts).toContainEqual({
      ...{ kind: 'pair', address: '192.0.2.7', attempts: 7 },
      ...{ since: expect.stringMatching(/Z$/), until: expect.stringMatching(/Z$/) },
    })
    expect(shown.sessions).toBe(2)
  })

  test('show says which facts are unknown while Redis is unreachable', async () => {
    const redis = `redis: { url: 'redis://127.0.0.1:1', connectTimeoutMs: 200 }\n`
    await writeFile(
      join(directory, 'redis.yaml'),
      `jwt: { secret: ${secret} }\n${settings}${redis}`,
    )
    const show = ['user', 'show', 'admin', '--config', 'redis.yaml']

    const { code, out } = await runCommand(show, { cwd: directory })
    const shown = JSON.parse(
      (await runCommand([...show, '--output', 'json'], { cwd: directory })).out,
    )

    expect(code).toBe(0)
    expect(out).toMatch(/^locked out +unknown\nsessions +unknown$/m)
    expect(shown).toMatchObject({ username: 'admin', lockouts: null, sessions: null })
  })

  test('show suggests the name that was meant', async () => {
    const { code, err } = await user(['show', 'amdin'])

    expect(code).toBe(1)
    expect(err).toMatch(/^postern: user "amdin" does not exist: .+; did you mean admin\?\n$/)
  })

  test('rename changes the name, keeps the ID and revokes the tokens', async () => {
    const password = (await user(['add', 'jill', '--role', 'viewer'])).out.trim()
    const before = await logIn('jill', password)

    const renamed = await user(['rename', 'jill', 'jane', '--output', 'json'])

    expect(renamed.err).toBe(
      'postern: renamed user jill to jane; revoked all tokens issued until now\n',
    )
    expect(JSON.parse(renamed.out)).toEqual({
      ...{ done: 'rename', username: 'jill', newName: 'jane', tokensEnded: true },
    })
    expect(await logIn('jill', password)).toBeUndefined()
    expect(await logIn('jane', password)).toEqual({ ...before, username: 'jane' })
  })

  test('rename refuses a name that is taken or cannot be one', async () => {
    expect(await user(['rename', 'editor', 'admin'])).toEqual({
      code: 1,
      out: '',
      err: 'postern: user admin already exists: choose another name\n',
    })
    for (const name of [' x', 'nimda\u202e', 'a\u2066b', 'a\u009b31m']) {
      expect(await user(['rename', 'editor', name])).toMatchObject({ code: 2 })
    }
    expect(await user(['rename', 'zed', 'zoe'])).toMatchObject({ code: 1, err: noUser('"zed"') })
  })

  test('delete asks on a terminal, and needs --yes elsewhere', async () => {
    await user(['add', 'karl', '--role', 'viewer'])
    const config = ['--config', 'postern.yaml']
    const asked = (types: string) =>
      runCommand(['user', 'delete', 'karl', ...config], { cwd: directory, types })

    const elsewhere = await user(['delete', 'karl'])
    const declined = await asked('no')
    const { userId } = JSON.parse((await user(['show', 'karl', '--output', 'json'])).out)
    const done = await asked('yes')

    const whom = `user karl (ID ${userId}, role viewer)`
    expect(elsewhere).toEqual({
      code: 1,
      out: '',
      err: `postern: stdin or stderr is not a terminal: to delete ${whom}, run again with --yes\n`,
    })
    expect(declined).toMatchObject({
      code: 1,
      err: `Delete ${whom}? Type yes: postern: user karl is not deleted\n`,
    })
    expect(done).toMatchObject({ code: 0 })
    expect(done.err).toContain(
      `postern: deleted user karl (ID ${userId}); revoked all tokens issued until now\n`,
    )
  })

  test('delete ends logging in and frees the name', async () => {
    const password = (await user(['add', 'lena', '--role', 'viewer'])).out.trim()

    expect(await user(['delete', 'lena', '--yes'])).toMatchObject({ code: 0, out: '' })

    expect(await logIn('lena', password)).toBeUndefined()
    expect(await user(['show', 'lena'])).toMatchObject({ code: 1 })
    expect(await user(['add', 'lena', '--role', 'viewer'])).toMatchObject({ code: 0 })
  })

  test('delete keeps the last enabled admin, unless forced', async () => {
    expect(await user(['delete', 'admin', '--yes'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('is the last enabled account with role admin'),
    })
    expect((await user(['show', 'admin'])).code).toBe(0)
  })

  test('leaves service accounts to their own commands', async () => {
    await user(['add', 'robot', '--role', 'viewer'])
    await sql`insert into postern_service_account (user_id, note)
      select user_id, '' from sys_user where username = 'robot'`.execute(gateway.db)

    const err = 'postern: robot is a service account: use the commands of "postern service"\n'
    expect(await user(['enable', 'robot'])).toEqual({ code: 1, out: '', err })
    expect(await user(['delete', 'robot', '--yes'])).toEqual({ code: 1, out: '', err })
    expect((await user(['list'])).out).toMatch(/^\d+ +robot +viewer +no login +service +no$/m)
    expect((await user(['show', 'robot'])).out).toMatch(/^status +no login$/m)
  })

  test('suggests the name that was meant', async () => {
    const { err } = await user(['disable', 'amdin'])

    expect(err).toMatch(/^postern: user "amdin" does not exist: .+; did you mean admin\?\n$/)
  })

  test('keeps the last enabled admin, unless forced, and prints a refusal as JSON too', async () => {
    const refusal =
      'admin is the last enabled account with role admin: create or enable another admin first, or run again with --force'

    expect(await user(['disable', 'admin'])).toEqual({
      code: 1,
      out: '',
      err: `postern: ${refusal}\n`,
    })
    const demoted = await user(['role', 'admin', 'viewer', '--output', 'json'])
    expect(demoted.code).toBe(1)
    expect(JSON.parse(demoted.out)).toEqual({ ok: false, errors: [{ message: refusal }] })

    expect(await user(['disable', 'admin', '--force'])).toMatchObject({ code: 0 })
    expect(await user(['enable', 'admin'])).toMatchObject({ code: 0 })
  })

  test('records who changed what, and from where', async () => {
    await user(['add', 'hugo', '--role', 'viewer'])
    await user(['role', 'hugo', 'editor'])

    const { rows } = await sql`
      select actor_kind, actor, origin, action, "before", after from postern_audit
      where subject = 'hugo' order by id`.execute(gateway.db)
    const by = { actor_kind: 'operator', actor: 'ada', origin: hostname() }
    expect(rows).toEqual([
      { ...by, action: 'user.add', before: null, after: expect.stringContaining('"viewer"') },
      { ...by, action: 'user.role', before: '{"role":"viewer"}', after: '{"role":"editor"}' },
    ])
  })

  test.each([
    [2, 'of seven bytes', 'sevenby'],
    [0, 'of eight bytes', 'eightbyt'],
    [0, 'of 72 bytes', 'x'.repeat(72)],
    [2, 'of 73 bytes', 'x'.repeat(73)],
    [2, 'of 72 characters but more bytes', 'é'.repeat(72)],
    [2, 'with a NUL character', 'sure, long\0enough'],
    [2, 'that was not written in UTF-8', Buffer.from('pässword!', 'latin1').toString()],
    [0, 'in any script', 'парольمرور🦊'],
    [0, 'with a line end of Windows', 'long enough\r\n'],
    [2, 'of two lines', 'first line\nsecond line\n'],
    [2, 'that is missing', ''],
    [2, 'that is common', 'Password1!'],
    [2, 'that is the user name with digits', 'editor2026'],
  ])('exits with %d for a password %s, and never shows it', async (code, _, password) => {
    const changed = await user(['passwd', 'editor', '--password-stdin'], password)

    expect(changed).toMatchObject({ code, out: '' })
    expect(changed.err).not.toContain(password || '\0')
  })

  test('says which rule a new password breaks, before it opens the database', async () => {
    const add = ['add', 'henry.tudor', '--role', 'viewer', '--password-stdin']
    const config = ['--config', 'absent.yaml']
    const named = await runCommand(['user', ...add, ...config], {
      cwd: directory,
      stdin: 'Henry.Tudor!',
    })

    expect(named).toEqual({ code: 2, out: '', err: `postern: ${catalogs.en['password-name']}\n` })
  })

  test.each([
    ['no command', []],
    ['an unknown command', ['remove', 'x']],
    ['no name', ['passwd']],
    ['two names', ['passwd', 'a', 'b']],
    ['no role', ['add', 'x']],
    ['no other role', ['role', 'x']],
    ['two roles', ['role', 'x', 'y', 'z']],
    ['an unknown option', ['list', '--all']],
    ['an option of another command', ['disable', 'admin', '--role', 'x']],
    ['an unknown output', ['list', '--output', 'xml']],
    ['a password as an argument', ['passwd', 'admin', '--password', 'x']],
  ])('with %s shows how it is used and exits with 2', async (_, args) => {
    const { code, out, err } = await user(args)

    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^postern: .+\n(?:Usage: postern user .+\n)?Run "postern user .*--help" /)
  })

  test.each([
    ['empty', ''],
    ['too long', 'x'.repeat(65)],
    ['too long for a login', '🦊'.repeat(33)],
    ['with a control character', 'a\u001b[31m'],
    ['with a space before it', ' admin'],
    ['with half a surrogate pair', 'a\ud800'],
  ])('add refuses a name that is %s', async (_, name) => {
    expect(await user(['add', name, '--role', 'viewer'])).toMatchObject({ code: 2, out: '' })
  })

  test('refuses a configuration that cannot be used', async () => {
    const refused = await runCommand(['user', 'list', '--config', 'absent.yaml'], {
      cwd: directory,
    })

    expect(refused).toMatchObject({ code: 3, out: '' })
  })
})
