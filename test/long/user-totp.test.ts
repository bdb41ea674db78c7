import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { encode } from 'uqr'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createAccountChanges } from '../../src/stores/accounts/account-changes.ts'
import type { Database } from '../../src/stores/database/database.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { createServiceChanges } from '../../src/stores/services/service-changes.ts'
import { type RunOptions, runCommand } from '../support/run-command.ts'
import { totpCode, wrongCode } from '../support/totp.ts'

const actor = { kind: 'operator', name: 'ada', origin: 'host-1' } as const
const secret = 'a secret of the test that is long enough for anybody'
const configuration = `jwt: { secret: ${secret} }
tokens: { service: { enabled: true } }
login: { secondFactor: { roles: [admin], issuer: Example Shop } }
`
const recoveryCode = /^ {2}([0-9a-z]{4}-){3}[0-9a-z]{4}$/gm

interface Enrolled {
  readonly userId: string
  readonly secret: string
  readonly uri: string
  readonly recoveryCodes: readonly string[]
}

describe('postern user totp', () => {
  let directory: string
  let gateway: Database

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'postern-totp-'))
    await cp(inject('databaseTemplate'), join(directory, 'data'), { recursive: true })
    await writeFile(join(directory, 'postern.yaml'), configuration)
    gateway = await openDatabase({
      ...{ directory: join(directory, 'data'), poolSize: 1 },
      ...{ connectTimeoutMs: 5000, statementTimeoutMs: 10_000 },
    })
    const accounts = createAccountChanges(gateway, actor)
    for (const username of ['ann', 'bob', 'cleo']) {
      await accounts.add({ username, roleKey: 'editor', passwordHash: 'h' })
    }
    await createServiceChanges(gateway, actor).add({ name: 'robot', roleKey: 'editor', note: '' })
  })
  afterAll(async () => {
    await gateway.close()
    await rm(directory, { recursive: true, force: true })
  })

  function postern(line: string, options: RunOptions = {}) {
    const config = join(directory, 'postern.yaml')
    return runCommand([...line.split(' '), '--config', config], { cwd: directory, ...options })
  }

  async function enroll(name: string): Promise<Enrolled> {
    const { code, out } = await postern(`user totp ${name} --no-confirm --yes --output json`)
    expect(code).toBe(0)
    return JSON.parse(out)
  }

  /** The secret as a person reads it, from what the command has shown so far. */
  const shownSecret = (out: string) =>
    /type this secret into the app: ([A-Z2-7 ]+)\n/.exec(out)?.[1]

  test('enrolls when a code from the app confirms it, and shows ten recovery codes', async () => {
    const now = 1_800_000_000_000
    let shown = ''
    const typed: (() => string)[] = [
      () => wrongCode(shownSecret(shown) ?? '', now),
      () => 'one two',
      () => totpCode(shownSecret(shown) ?? '', now),
    ]
    const config = join(directory, 'postern.yaml')
    const ran = await runCommand(['user', 'totp', 'ann', '--config', config], {
      ...{ cwd: directory, now: () => now },
      types: async () => typed.shift()?.() ?? '',
      onOut: (text) => {
        shown += text
      },
    })

    expect(ran.code).toBe(0)
    expect(ran.out.match(recoveryCode)).toHaveLength(10)
    expect(ran.err).toBe(
      'Code from the app: postern: wrong code: wait for the next one\n' +
        'Code from the app: postern: not a code: type the six digits\n' +
        'Code from the app: postern: user ann now logs in with one-time codes; revoked all tokens issued until now\n',
    )
    const { rows } = await sql<{ step: string; sealed: string }>`
      select last_step as step, sealed from postern_totp t
      join sys_user u on u.user_id = t.user_id where username = 'ann'`.execute(gateway.db)
    // Used up: who looked over the shoulder cannot log in with it.
    expect(rows[0]?.step).toBe(String(now / 30_000))
    expect(rows[0]?.sealed).toMatch(/^v1\.[\w-]{64}$/)
  })

  test('changes nothing when no right code comes', async () => {
    const before = await postern('user totp --list --output json')
    const wrong = await postern('user totp cleo', { types: 'abc' })
    const none = await postern('user totp cleo', { types: '' })

    expect(wrong).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not enrolled: no right'),
    })
    expect(none).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not enrolled: no right'),
    })
    expect(`${wrong.out}${none.out}`).not.toMatch(recoveryCode)
    expect((await postern('user totp --list --output json')).out).toBe(before.out)
  })

  test('prints the QR code of the address, with a border of four modules', async () => {
    const { out } = await postern('user totp bob --no-confirm --yes')
    const compact = shownSecret(out)?.replaceAll(' ', '') ?? ''

    const lines = out.split('\n').filter((line) => /^[ █▀▄]+$/.test(line))
    const light = { '█': [true, true], '▀': [true, false], '▄': [false, true], ' ': [false, false] }
    const modules = lines.flatMap((line) => {
      const pairs = [...line].map((each) => light[each as keyof typeof light])
      return [pairs.map(([upper]) => !upper), pairs.map(([, lower]) => !lower)]
    })
    const uri = `otpauth://totp/Example%20Shop:bob?issuer=Example%20Shop&secret=${compact}&algorithm=SHA1&digits=6&period=30`
    const { data, size } = encode(uri, { border: 4 })
    expect(modules.slice(0, size)).toEqual(data)
  })

  test('asks before it replaces one-time codes', async () => {
    await enroll('bob')

    expect(await postern('user totp bob --no-confirm')).toMatchObject({
      code: 1,
      err: 'postern: user bob has one-time codes: new ones replace the app and the recovery codes; stdin or stderr is not a terminal, so run again with --yes\n',
    })
    expect(await postern('user totp bob --no-confirm', { types: 'no' })).toMatchObject({
      code: 1,
      err: expect.stringContaining('postern: the one-time codes of user bob stay\n'),
    })
    expect((await postern('user totp bob --no-confirm', { types: 'yes' })).code).toBe(0)
  })

  test('lists who has one-time codes, who needs them, and the key of each', async () => {
    const { userId } = await enroll('bob')

    const { out } = await postern('user totp --list')
    const listed = JSON.parse((await postern('user totp --list --output json')).out)

    expect(out).toMatch(/^ID +NAME +ROLE +ENROLLED +KEY +RECOVERY CODES +STATUS$/m)
    expect(out).toMatch(/^\d+ +bob +editor +20\S+Z +jwt\.secret +10 +ready$/m)
    expect(out).toMatch(
      /^\d+ +admin +admin +- +- +- +needed by the role: login refuses this account$/m,
    )
    expect(listed).toContainEqual({
      ...{ userId, username: 'bob', roleKey: 'editor', recoveryCodesLeft: 10, failures: 0 },
      ...{ enrolledAt: expect.stringMatching(/Z$/), key: 'jwt.secret', status: 'ready' },
    })
    expect((await postern('user list')).out).toMatch(/^\d+ +bob +editor +enabled +user +yes$/m)
    expect((await postern('user show bob')).out).toMatch(
      /^one-time codes +since \S+Z, encrypted with jwt\.secret, 10 recovery codes left$/m,
    )
    expect((await postern('user show admin')).out).toMatch(
      /^one-time codes +no, and the role needs them: login refuses this account$/m,
    )
  })

  test('replaces recovery codes, and removes everything, with audit rows without secrets', async () => {
    const enrolled = await enroll('cleo')

    const renewed = await postern('user totp cleo --recovery-codes --output json')
    const removed = await postern('user totp cleo --remove')
    const again = await postern('user totp cleo --recovery-codes')

    const { recoveryCodes } = JSON.parse(renewed.out) as Enrolled
    expect(recoveryCodes).toHaveLength(10)
    expect(recoveryCodes.filter((code) => enrolled.recoveryCodes.includes(code))).toEqual([])
    expect(removed).toMatchObject({
      ...{ code: 0, out: '' },
      err: 'postern: removed the one-time codes of user cleo: the password alone is enough to log in\n',
    })
    expect(again).toMatchObject({
      ...{ code: 1, out: '' },
      err: 'postern: user cleo has no one-time codes: enroll with "postern user totp cleo"\n',
    })
    const { rows } = await sql<{ before: string; after: string }>`
      select before, after from postern_audit
      where action = 'user.totp' and subject = 'cleo' order by id`.execute(gateway.db)
    expect(rows.map(({ before, after }) => [JSON.parse(before), JSON.parse(after)])).toEqual([
      [
        { enrolled: false, recoveryCodes: 0 },
        { enrolled: true, recoveryCodes: 10 },
      ],
      [
        { enrolled: true, recoveryCodes: 10 },
        { enrolled: true, recoveryCodes: 10 },
      ],
      [
        { enrolled: true, recoveryCodes: 10 },
        { enrolled: false, recoveryCodes: 0 },
      ],
    ])
  })

  test.each([
    ['user totp nobody', 1, /^postern: user "nobody" does not exist/],
    ['user totp cloe', 1, /did you mean cleo\?$/],
    [
      'user totp robot',
      1,
      /^postern: robot is a service account: programs have tokens and never log in$/,
    ],
    [
      'user totp cleo',
      1,
      /^postern: stdin or stderr is not a terminal: .* run again with --no-confirm$/,
    ],
    ['user totp cleo --output json', 2, /^postern: --output json asks nothing: add --no-confirm$/m],
    ['user totp cleo --remove --yes', 2, /^postern: --remove cannot be combined with --yes$/m],
    ['user totp cleo --list', 2, /--list replaces NAME/],
    ['user totp', 2, /NAME/],
  ])('%s says what to do', async (line, code, message) => {
    const ran = await postern(line)

    expect({ code: ran.code, out: ran.out }).toEqual({ code, out: '' })
    expect(ran.err.trimEnd()).toMatch(message)
  })

  test('encrypts secrets with the key that signs now, so that the old one can go', async () => {
    await enroll('bob')
    const { out: kid } = await postern('keys generate --out keys')
    const name = kid.trim()
    await postern(`keys use ${name} keys`)
    const both = { env: { POSTERN_JWT__KEYDIRECTORY: join(directory, 'keys') } }
    const sealedWith = async (who: string) => {
      const listed = JSON.parse((await postern('user totp --list --output json', both)).out)
      return listed.find(({ username }: { username: string }) => username === who)
    }

    expect(await sealedWith('bob')).toMatchObject({ key: 'jwt.secret', status: 'ready' })
    const ran = await postern('user totp --reencrypt', both)
    expect(ran).toMatchObject({ code: 0, out: '' })
    expect(ran.err).toMatch(
      new RegExp(`^postern: encrypted the one-time codes of \\d users? with key ${name}\\n$`),
    )
    expect(await sealedWith('bob')).toMatchObject({ key: name, status: 'ready' })

    const lost = await postern('user totp --reencrypt')
    expect(lost.code).toBe(1)
    expect(lost.err).toContain(`postern: user bob: key ${name} is not loaded; restore it, or run`)
    expect((await postern('user totp --list')).out).toMatch(
      /bob .* key not loaded: logins get 503$/m,
    )
  })

  test('says when the secret is encrypted with another jwt.secret', async () => {
    await enroll('bob')
    const other = {
      env: { POSTERN_JWT__SECRET: 'another secret that is long enough for this test' },
    }

    const ran = await postern('user totp bob --recovery-codes', other)

    expect(ran).toMatchObject({ code: 5, out: '' })
    expect(ran.err).toMatch(
      /cannot be decrypted with key jwt\.secret: the key or the row was changed/,
    )
  })
})
