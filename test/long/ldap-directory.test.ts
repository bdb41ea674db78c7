import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Directory, openDirectory } from '../../src/login/methods/ldap/open-directory.ts'
import type { DirectorySettings } from '../../src/login/methods/ldap/settings.ts'
import { type Certificates, createCertificates } from '../support/certificates.ts'
import {
  groupLdif,
  personLdif,
  type Slapd,
  serviceDn,
  servicePassword,
  slapdMissing,
  startSlapd,
  suffix,
} from '../support/slapd.ts'
import { until } from '../support/until.ts'

const people = `ou=people,${suffix}`
const anna = `uid=anna,${people}`
const guid = Buffer.from('00112233445566778899aabbccddeeff', 'hex')

const entries = [
  personLdif('anna', 'anna-secret', ['mail: anna@example.com', 'displayName: Anna A.']),
  personLdif('berta', 'berta-secret', [`memberOf: cn=staff,ou=groups,${suffix}`]),
  personLdif('Jürgen 中文', 'umlaut-secret'),
  personLdif('a*b(c)\\d', 'special-secret', [], `cn=special,${people}`),
  personLdif('long', 'x'.repeat(200)),
  personLdif('blank', '   '),
  personLdif('twin', 'twin-secret', [], `cn=one,${people}`),
  personLdif('twin', 'twin-secret', [], `cn=two,${people}`),
  personLdif('nested', 'nested-secret'),
  personLdif('ad-bob', 'bob-secret', [
    'objectClass: extensibleObject',
    'sAMAccountName: bob',
    `objectGUID:: ${guid.toString('base64')}`,
  ]),
  groupLdif('staff', [anna, `uid=berta,${people}`]),
  groupLdif('inner', [`uid=nested,${people}`]),
  groupLdif('middle', [`cn=inner,ou=groups,${suffix}`]),
  groupLdif('outer', [`cn=middle,ou=groups,${suffix}`, `cn=outer,ou=groups,${suffix}`]),
  `dn: ou=elsewhere,${suffix}
objectClass: referral
objectClass: extensibleObject
ou: elsewhere
ref: ldap://127.0.0.1:1/ou=elsewhere,${suffix}
`,
].join('\n')

let certificates: Certificates
let slapd: Slapd

/** A directory of this slapd. Ends with the test. */
function directory(
  changes: { readonly [Key in keyof DirectorySettings]?: DirectorySettings[Key] | undefined } = {},
): Directory & { readonly lines: string[] } {
  const lines: string[] = []
  const write = (fields: object, text: string) =>
    void lines.push(`${text} ${JSON.stringify(fields)}`)
  const opened = openDirectory(
    {
      name: 'ldap',
      urls: [slapd.ldaps],
      startTls: false,
      caFile: certificates.authority,
      bindDn: serviceDn,
      bindPassword: servicePassword,
      search: { base: suffix, filter: '(&(objectClass=person)(uid={username}))', scope: 'sub' },
      attributes: {
        ...{ subject: 'entryUUID', username: 'uid', displayName: 'displayName', email: 'mail' },
      },
      ...{ connectTimeoutMs: 2000, timeoutMs: 5000, maxConcurrent: 16 },
      ...changes,
    } as DirectorySettings,
    { info: write, warn: write },
  )
  onTestFinished(() => opened.close())
  return { ...opened, lines }
}

const fault = expect.objectContaining({ name: 'Fault', part: 'directory' })
const annasLogin = { username: 'anna', password: 'anna-secret' }

describe.skipIf(slapdMissing !== undefined)(`a directory (${slapdMissing ?? 'slapd'})`, () => {
  beforeAll(async () => {
    certificates = await createCertificates('127.0.0.1')
    slapd = await startSlapd({
      ldif: entries,
      certificates,
      settings: ['allow bind_anon_cred bind_anon_dn'],
    })
  })
  afterAll(async () => {
    await slapd?.stop()
    await certificates?.remove()
  })

  test('finds an entry with the service account and binds as it', async () => {
    const { verify } = directory()

    expect(await verify(annasLogin)).toEqual({
      // For claims that headers carry to services.
      entry: expect.objectContaining({ dn: anna }),
      subject: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/),
      username: 'anna',
      displayName: 'Anna A.',
      email: 'anna@example.com',
      groups: [],
    })
    expect(await verify({ username: 'ANNA', password: 'anna-secret' })).toMatchObject({
      username: 'anna',
    })
    for (const wrong of ['berta-secret', 'anna-secret ', 'ANNA-SECRET']) {
      expect(await verify({ username: 'anna', password: wrong })).toBeUndefined()
    }
    expect(await verify({ username: 'nemo', password: 'anna-secret' })).toBeUndefined()
  })

  test.each([
    ['Jürgen 中文', 'umlaut-secret'],
    ['a*b(c)\\d', 'special-secret'],
    ['long', 'x'.repeat(200)],
  ])('accepts %s', async (username, password) => {
    expect(await directory().verify({ username, password })).toMatchObject({ username })
  })

  test.each(['', ' ', '   ', '\t', '\0', 'anna-secret\0', '\0anna-secret'])(
    'refuses the password %j, although the server accepts binds without one',
    async (password) => {
      const { verify } = directory()

      expect(await verify({ username: 'anna', password })).toBeUndefined()
      expect(await verify({ username: 'blank', password })).toBeUndefined()
    },
  )

  test.each([
    '*',
    'a*',
    'ann?',
    'anna)(uid=*',
    '*)(|(uid=*',
    'anna))(|(uid=anna',
    'anna)(userPassword=anna-secret',
    '\\61nna',
    'anna\0',
    anna,
    'EXTERNAL',
    'PLAIN',
    '',
    ' ',
    '{username}',
    '{dn}',
  ])('finds nobody for the name %j', async (username) => {
    expect(await directory().verify({ username, password: 'anna-secret' })).toBeUndefined()
    const direct = directory({ search: undefined, userDn: `uid={username},${people}` })
    expect(await direct.verify({ username, password: 'anna-secret' })).toBeUndefined()
  })

  test.each([' anna', '  anna', 'a\u00adnna', 'ａnna\u200b'])(
    'refuses the spelling %j, which the throttle would count as another name',
    async (username) => {
      expect(await directory().verify({ username, password: 'anna-secret' })).toBeUndefined()
    },
  )

  test('refuses a name that two entries have', async () => {
    const { verify, lines } = directory()

    expect(await verify({ username: 'twin', password: 'twin-secret' })).toBeUndefined()
    expect(lines.join('\n')).toContain('several entries have the name')
  })

  test('follows no referral', async () => {
    const search = { filter: '(uid={username})', scope: 'sub' } as const
    const base = `ou=elsewhere,${suffix}`
    const { verify } = directory({ search: { ...search, base } })

    await expect(verify(annasLogin)).rejects.toEqual(fault)
    await expect(verify(annasLogin)).rejects.toThrow('refers to another one; not followed')
    expect(
      await directory({ search: { ...search, base: suffix } }).verify(annasLogin),
    ).toBeDefined()
  })

  test('reports a base that does not exist, and not a wrong password', async () => {
    const search = { base: 'ou=nowhere,dc=example,dc=com', filter: '(uid={username})' }
    const { verify } = directory({ search: { ...search, scope: 'sub' } })

    await expect(verify(annasLogin)).rejects.toThrow('ou=nowhere,dc=example,dc=com does not exist')
  })

  test('binds as a DN without a service account, and reads its own entry', async () => {
    const { verify } = directory({
      ...{ search: undefined, bindDn: undefined, bindPassword: undefined },
      userDn: `uid={username},${people}`,
    })

    expect(await verify(annasLogin)).toMatchObject({ username: 'anna', email: 'anna@example.com' })
    expect(await verify({ ...annasLogin, password: 'x' })).toBeUndefined()
    expect(await verify({ username: 'anna,ou=people', password: 'anna-secret' })).toBeUndefined()
  })

  test('reads the groups of an attribute, and of entries that name a member', async () => {
    const staff = `cn=staff,ou=groups,${suffix}`
    const groups = { filter: '(member={dn})', nested: false }
    const byAttribute = directory({ groups: { ...groups, attribute: 'memberOf' } })
    const bySearch = directory({ groups: { ...groups, base: suffix } })

    const login = { username: 'berta', password: 'berta-secret' }
    expect(await byAttribute.verify(login)).toMatchObject({ groups: [staff] })
    expect(await bySearch.verify(login)).toMatchObject({ groups: [staff] })
  })

  test('walks through nested groups, in circles too', async () => {
    const login = { username: 'nested', password: 'nested-secret' }
    const groups = { filter: '(member={dn})', base: suffix }
    const names = ['inner', 'middle', 'outer'].map((cn) => `cn=${cn},ou=groups,${suffix}`)

    const flat = await directory({ groups: { ...groups, nested: false } }).verify(login)
    const all = await directory({ groups: { ...groups, nested: true } }).verify(login)

    expect(flat?.groups).toEqual(names.slice(0, 1))
    expect(all?.groups).toEqual(names)
  })

  test('shows the GUID of Active Directory as its tools do', async () => {
    const { verify } = directory({
      search: { base: suffix, filter: '(sAMAccountName={username})', scope: 'sub' },
      attributes: {
        ...{ subject: 'objectGUID', username: 'sAMAccountName' },
        ...{ displayName: 'displayName', email: 'mail' },
      },
    })

    expect(await verify({ username: 'bob', password: 'bob-secret' })).toMatchObject({
      subject: '33221100-5544-7766-8899-aabbccddeeff',
      username: 'bob',
    })
  })

  test('reports an entry without the configured subject', async () => {
    const attributes = { subject: 'objectGUID', username: 'uid', displayName: 'cn', email: 'mail' }

    await expect(directory({ attributes }).verify(annasLogin)).rejects.toThrow(
      'has no usable objectGUID; set login.ldap.attributes.subject',
    )
  })

  describe('TLS', () => {
    test('is verified with LDAPS', async () => {
      const other = await createCertificates('127.0.0.1')
      onTestFinished(other.remove)

      await expect(directory({ caFile: undefined }).verify(annasLogin)).rejects.toEqual(fault)
      await expect(directory({ caFile: other.authority }).verify(annasLogin)).rejects.toEqual(fault)
      await expect(
        directory({ serverName: 'ldap.example.com' }).verify(annasLogin),
      ).rejects.toThrow('does not match certificate')
    })

    test('is verified with StartTLS', async () => {
      const startTls = { urls: [slapd.ldap], startTls: true }

      expect(await directory(startTls).verify(annasLogin)).toBeDefined()
      await expect(
        directory({ ...startTls, caFile: undefined }).verify(annasLogin),
      ).rejects.toEqual(fault)
      await expect(
        directory({ ...startTls, serverName: 'ldap.example.com' }).verify(annasLogin),
      ).rejects.toThrow('does not match certificate')
    })
  })

  describe('on a bad day', () => {
    test.each([true, false])(
      'serves 50 logins at once from cold and after a restart (StartTLS: %s)',
      async (startTls) => {
        const { verify } = directory({
          urls: [startTls ? slapd.ldap : slapd.ldaps],
          startTls,
          timeoutMs: 20_000,
        })
        const fifty = () => Promise.all(Array.from({ length: 50 }, () => verify(annasLogin)))

        expect(new Set((await fifty()).map((person) => person?.username))).toEqual(
          new Set(['anna']),
        )
        await slapd.kill()
        await expect(verify(annasLogin)).rejects.toEqual(fault)
        await slapd.start()
        expect(new Set((await fifty()).map((person) => person?.username))).toEqual(
          new Set(['anna']),
        )
      },
    )

    test('answers within its time while the server is silent, and recovers', async () => {
      const { verify, states } = directory({ timeoutMs: 600, connectTimeoutMs: 300 })
      expect(await verify(annasLogin)).toBeDefined()

      slapd.pause()
      onTestFinished(() => slapd.resume())
      await expect(verify(annasLogin)).rejects.toEqual(fault)
      expect(states()).toMatchObject([{ reachable: false }])
      slapd.resume()
      await until(async () => (await verify(annasLogin).catch(() => undefined)) !== undefined)
      expect(states()).toMatchObject([{ reachable: true }])
    })

    test('asks the next server, and the failed one last', async () => {
      const { verify, states } = directory({ urls: ['ldaps://127.0.0.1:1', slapd.ldaps] })

      expect(await verify(annasLogin)).toBeDefined()
      expect(states()).toMatchObject([{ reachable: false }, { reachable: true }])
    })

    test('reports a wrong password of the service account, and does not lock it out', async () => {
      const { verify, lines } = directory({ bindPassword: 'wrong' })

      for (let turn = 0; turn < 3; turn++) {
        await expect(verify(annasLogin)).rejects.toThrow('refused login.ldap.bindDn')
      }
      expect(lines.join('\n')).not.toContain('wrong')
      expect(lines.filter((line) => line.includes('directory server failed'))).toHaveLength(1)
    })
  })
})
