import { Attribute, Change, Client } from 'ldapts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createCertificates } from '../support/certificates.ts'
import { type FakeEntry, startFakeDirectory } from '../support/fake-directory.ts'
import { dev, goodLogin, postLogin } from '../support/log-in.ts'
import { freePort } from '../support/redis-server.ts'
import {
  groupLdif,
  managerDn,
  managerPassword,
  personLdif,
  serviceDn,
  servicePassword,
  slapdMissing,
  startSlapd,
  suffix,
} from '../support/slapd.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'

const base = 'dc=example'
const bindDn = `cn=reader,${base}`
const long = 'p'.repeat(100)

interface Member {
  readonly password: string
  readonly groups: readonly string[]
}

/** A directory whose people a test may change. */
async function startDirectory() {
  const people = new Map<string, Member>([
    ['anna', { password: 'anna-secret', groups: [`cn=editors,${base}`] }],
    ['long', { password: long, groups: [`cn=editors,${base}`] }],
    ['guest', { password: 'guest-secret', groups: [`cn=guests,${base}`] }],
    ['editor', { password: 'directory-secret', groups: [`cn=editors,${base}`] }],
  ])
  const entryOf = (uid: string, { groups }: Member): FakeEntry => ({
    dn: `uid=${uid},${base}`,
    attributes: { uid: [uid], entryUUID: [`id-${uid}`], memberOf: groups, mail: [`${uid}@x.org`] },
  })
  const fake = await startFakeDirectory({
    bind(name, password) {
      if (name === bindDn) return password === 'reader-secret' ? 0 : 49
      const uid = /^uid=(\w+),/.exec(name)?.[1] ?? ''
      return people.get(uid)?.password === password ? 0 : 49
    },
    search: (_, request) =>
      [...people].flatMap(([uid, member]) =>
        request.toLowerCase().includes(`${uid}0`) ? [entryOf(uid, member)] : [],
      ),
  })
  return { ...fake, people }
}

function ldap(url: string, changes: object = {}) {
  return {
    ...{ urls: [url], bindDn, bindPassword: 'reader-secret', timeoutMs: 3000, create: true },
    search: { base, filter: '(uid={username})' },
    groups: { attribute: 'memberOf' },
    roles: [
      { value: `CN=Admins,${base}`, role: 'admin' },
      { value: 'editors', role: 'editor' },
    ],
    ...changes,
  }
}

function start(
  url: string,
  changes: object = {},
  login: object = {},
  ownDatabase = true,
): Promise<TestPostern> {
  const limits = { perAddressPerMinute: 1000 }
  const config = { ...dev, login: { ...limits, ...login, ldap: ldap(url, changes) } }
  return startPostern({ config, ownDatabase })
}

function logIn(postern: TestPostern, username: string, password: string, more: object = {}) {
  return postLogin(postern, { username, password, uuid: '-', code: '-', ...more })
}

/** The role of a token, or the code of the refusal. */
async function outcome(answer: ReturnType<typeof logIn>): Promise<unknown> {
  const { status, json } = await answer
  const body = json() as { code: number; token?: string }
  if (body.token === undefined) return status === 200 ? body.code : status
  const claims = JSON.parse(Buffer.from(body.token.split('.')[1] ?? '', 'base64url').toString())
  return `${claims.nice} ${claims.rolekey}`
}

describe('a login with a directory', () => {
  test('creates an account with the role of the group, and follows the groups', async () => {
    const { url, people } = await startDirectory()
    const postern = await start(url)

    expect(await outcome(logIn(postern, 'anna', 'anna-secret'))).toBe('anna editor')
    const first = (await logIn(postern, 'ANNA', 'anna-secret')).json() as { token: string }
    const { token } = first
    expect((await postern.call('GET /api/v1/public/a', { token })).json()).toEqual({ ok: true })

    people.set('anna', { password: 'anna-secret', groups: [`cn=admins,${base}`] })
    expect(await outcome(logIn(postern, 'anna', 'anna-secret'))).toBe('anna admin')
    expect((await postern.call('GET /api/v1/public/a', { token })).json()).toMatchObject({
      code: 401,
    })

    const second = (await logIn(postern, 'anna', 'anna-secret')).json() as { token: string }
    people.set('anna', { password: 'anna-secret', groups: [] })
    // Whoever does not know the password must not be able to end sessions.
    expect(await outcome(logIn(postern, 'anna', 'wrong'))).toBe(400)
    const held = { token: second.token }
    expect((await postern.call('GET /api/v1/public/a', held)).json()).toEqual({ ok: true })
    expect(await outcome(logIn(postern, 'anna', 'anna-secret'))).toBe(403)
    expect((await postern.call('GET /api/v1/public/a', held)).json()).toMatchObject({ code: 401 })
    expect(postern.logText()).toContain('no entry of login.ldap.roles names a group of')
    expect(postern.logText()).toContain('revoked the tokens of account')
    expect(postern.logText()).not.toMatch(/-secret/)
  })

  test('refuses wrong names and passwords with one answer, and accepts long passwords', async () => {
    const { url } = await startDirectory()
    const postern = await start(url)
    const wrong = (await logIn(postern, 'anna', 'wrong')).json()

    expect(wrong).toMatchObject({ code: 400 })
    expect((await logIn(postern, 'nemo', 'wrong')).json()).toEqual(wrong)
    expect((await logIn(postern, 'anna', '   ')).json()).toEqual(wrong)
    expect((await logIn(postern, 'a*', 'anna-secret')).json()).toEqual(wrong)
    expect(await outcome(logIn(postern, 'guest', 'guest-secret'))).toBe(403)
    expect(await outcome(logIn(postern, 'long', long))).toBe('long editor')
    expect(await outcome(logIn(postern, 'anna', 'anna-secret', { provider: 'password' }))).toBe(
      'anna editor',
    )
  })

  test('counts guesses at one password together, however the name is spelled', async () => {
    const { url, operations } = await startDirectory()
    const postern = await start(url, {}, {}, false)

    for (const name of ['anna', 'Anna', 'ANNA', 'anna ', 'aNNa']) {
      expect(await outcome(logIn(postern, name, 'wrong'))).toBe(400)
    }
    const asked = operations.length
    expect(await outcome(logIn(postern, 'annA', 'anna-secret'))).toBe(429)
    expect(operations).toHaveLength(asked)
    for (const name of [' anna', '  anna', '\tanna']) {
      expect(await outcome(logIn(postern, name, 'anna-secret'))).toBe(400)
    }
  })

  test('asks in one place only: an account with a password here is not in the directory', async () => {
    const { url } = await startDirectory()
    const postern = await start(url)

    expect(await outcome(postLogin(postern, goodLogin(postern)))).toBe('editor editor')
    expect(await outcome(logIn(postern, 'editor', 'directory-secret'))).toBe(400)
    // Another spelling reaches the directory, and must not take over the account.
    expect(await outcome(logIn(postern, 'Editor', 'directory-secret'))).toBe(403)
  })

  test('links an account of the same name if that is allowed; then only the directory decides', async () => {
    const { url } = await startDirectory()
    const postern = await start(url, { linkByUsername: true })

    expect(await outcome(logIn(postern, 'Editor', 'directory-secret'))).toBe('editor editor')
    expect(await outcome(logIn(postern, 'editor', 'directory-secret'))).toBe('editor editor')
    expect(await outcome(postLogin(postern, goodLogin(postern)))).toBe(400)
  })

  test('creates no account unless that is allowed', async () => {
    const { url } = await startDirectory()
    const postern = await start(url, { create: false }, {}, false)

    expect(await outcome(logIn(postern, 'anna', 'anna-secret'))).toBe(403)
    expect(await outcome(logIn(postern, 'anna', 'wrong'))).toBe(400)
  })

  test('with login.local off, own passwords no longer log in', async () => {
    const { url } = await startDirectory()
    const postern = await start(url, {}, { local: false })

    expect(await outcome(postLogin(postern, goodLogin(postern)))).toBe(400)
    expect(await outcome(logIn(postern, 'anna', 'anna-secret'))).toBe('anna editor')
  })
})

describe.skipIf(slapdMissing !== undefined)('a login with OpenLDAP', () => {
  test('without a mapped group any more is refused, and revokes the tokens from before', async () => {
    const certificates = await createCertificates()
    onTestFinished(certificates.remove)
    const [ada, group] = [`uid=ada,ou=people,${suffix}`, `cn=editors,ou=groups,${suffix}`]
    const slapd = await startSlapd({
      certificates,
      ldif: [
        personLdif('ada', 'ada-secret'),
        groupLdif('editors', [ada, `uid=other,ou=people,${suffix}`]),
      ].join('\n'),
    })
    onTestFinished(slapd.stop)
    const manager = new Client({ url: slapd.ldap })
    await manager.bind(managerDn, managerPassword)
    onTestFinished(() => manager.unbind())
    const member = new Attribute({ type: 'member', values: [ada] })
    const postern = await start(slapd.ldap, {
      ...{ bindDn: serviceDn, bindPassword: servicePassword },
      search: { base: suffix, filter: '(uid={username})' },
      groups: { base: `ou=groups,${suffix}`, filter: '(member={dn})' },
    })
    const isIn = async (token: string) =>
      (await postern.call('GET /api/v1/public/a', { token })).body === '{"ok":true}'
    const first = (await logIn(postern, 'ada', 'ada-secret')).json() as { token: string }
    expect(await isIn(first.token)).toBe(true)

    await manager.modify(group, new Change({ operation: 'delete', modification: member }))
    expect(await isIn(first.token)).toBe(true)
    expect(await outcome(logIn(postern, 'ada', 'ada-secret'))).toBe(403)
    expect(await isIn(first.token)).toBe(false)

    await manager.modify(group, new Change({ operation: 'add', modification: member }))
    const again = (await logIn(postern, 'ada', 'ada-secret')).json() as { token: string }
    expect(await isIn(again.token)).toBe(true)
    expect(await isIn(first.token)).toBe(false)
  })

  test('lets services learn the groups and chosen attributes of a person', async () => {
    const certificates = await createCertificates()
    onTestFinished(certificates.remove)
    const more = ['displayName: Ada Lee', 'mail: ada@x.org', 'ou: Sales, EMEA', 'ou: R&D']
    const slapd = await startSlapd({
      certificates,
      ldif: [
        personLdif('ada', 'ada-secret', more),
        groupLdif('Editors', [`uid=ada,ou=people,${suffix}`]),
      ].join('\n'),
    })
    onTestFinished(slapd.stop)
    const login = {
      ldap: ldap(slapd.ldap, {
        ...{ bindDn: serviceDn, bindPassword: servicePassword },
        search: { base: suffix, filter: '(uid={username})' },
        groups: { base: `ou=groups,${suffix}`, filter: '(member={dn})' },
      }),
    }
    const claims = { ou: 'X-Unit', userPassword: 'X-Secret', '/no/attribute': 'X-None' }
    const headers = { preset: 'authelia', claims }
    const postern = await startPostern({ config: { ...dev, login, headers }, ownDatabase: true })

    const { token } = (await logIn(postern, 'ada', 'ada-secret')).json() as { token: string }
    await postern.call('GET /api/v1/public/a', { token })

    const [sent] = postern.upstream.requests
    const names = ['Remote-User', 'Remote-Name', 'Remote-Email', 'Remote-Groups']
    expect([...names, ...Object.values(claims)].map((name) => sent?.values(name))).toEqual([
      ['ada'],
      ['Ada Lee'],
      ['ada@x.org'],
      ['Editors'],
      ['Sales%2C%20EMEA,R&D'],
      // The directory shows it to nobody.
      [''],
      [''],
    ])
  })
})

describe('a directory that is unreachable', () => {
  test('makes its logins 503 and breaks nothing else', async () => {
    const postern = await start(`ldap://127.0.0.1:${await freePort()}`, {}, {}, false)

    for (let turn = 0; turn < 7; turn++) {
      expect(await outcome(logIn(postern, 'anna', 'anna-secret'))).toBe(503)
    }
    const login = (await postLogin(postern, goodLogin(postern))).json() as { token: string }
    expect((await postern.call('GET /api/v1/public/a', { token: login.token })).json()).toEqual({
      ok: true,
    })
    const ready = await fetch(`http://127.0.0.1:${postern.opsPort}/readyz?verbose`)
    expect(ready.status).toBe(200)
    expect(await ready.json()).toMatchObject({ directory: [{ reachable: false }] })
    const metrics = await fetch(`http://127.0.0.1:${postern.opsPort}/metrics`)
    const text = await metrics.text()
    expect(text).toMatch(/postern_directory_server_up\{server="ldap:[^}]*\} 0/)
    expect(text).toMatch(/postern_directory_logins_total\{result="failed"\} 7/)
  })
})
