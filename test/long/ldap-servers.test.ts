import { readFile } from 'node:fs/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openDirectory } from '../../src/login/methods/ldap/open-directory.ts'
import type { DirectorySettings } from '../../src/login/methods/ldap/settings.ts'
import { createCertificates } from '../support/certificates.ts'
import { type FakeEntry, result, startFakeDirectory } from '../support/fake-directory.ts'
import { until } from '../support/until.ts'

const reader = 'cn=reader,dc=example'
const passwords: Readonly<Record<string, string>> = {
  [reader]: 'reader-secret',
  'uid=anna,dc=example': 'anna-secret',
}
const checked = (name: string, password: string) => (passwords[name] === password ? 0 : 49)
const login = { username: 'anna', password: 'anna-secret' }

function entry(name: string, more: FakeEntry['attributes'] = {}): FakeEntry {
  return { dn: `uid=${name},dc=example`, attributes: { uid: [name], entryUUID: [name], ...more } }
}

function directory(
  urls: readonly string[],
  changes: { readonly [Key in keyof DirectorySettings]?: DirectorySettings[Key] | undefined } = {},
) {
  const lines: string[] = []
  const write = (fields: object, text: string) =>
    void lines.push(`${text} ${JSON.stringify(fields)}`)
  const opened = openDirectory(
    {
      ...{ name: 'ldap', urls, startTls: false, bindDn: reader, bindPassword: 'reader-secret' },
      search: { base: 'dc=example', filter: '(uid={username})', scope: 'sub' },
      attributes: {
        ...{ subject: 'entryUUID', username: 'uid', displayName: 'displayName', email: 'mail' },
      },
      ...{ connectTimeoutMs: 300, timeoutMs: 600, maxConcurrent: 16 },
      ...changes,
    } as DirectorySettings,
    { info: write, warn: write },
  )
  onTestFinished(() => opened.close())
  return { ...opened, lines }
}

const fault = expect.objectContaining({ name: 'Fault', part: 'directory' })

async function certified() {
  const certificates = await createCertificates('127.0.0.1')
  onTestFinished(certificates.remove)
  const [cert, key] = await Promise.all([
    readFile(certificates.certificate, 'utf8'),
    readFile(certificates.key, 'utf8'),
  ])
  return { tls: { cert, key }, caFile: certificates.authority }
}

describe('what a server says to a bind', () => {
  const answering = (code: number) =>
    startFakeDirectory({
      bind: (name) => (name === reader ? 0 : code),
      search: () => [entry('anna')],
    })

  test.each([19, 48, 49, 53])('result code %i is a wrong password', async (code) => {
    const { url } = await answering(code)

    expect(await directory([url]).verify(login)).toBeUndefined()
  })

  test.each([1, 2, 3, 8, 10, 13, 34, 50, 51, 52, 80])(
    'result code %i is a fault, and never a wrong password',
    async (code) => {
      const { url } = await answering(code)

      await expect(directory([url]).verify(login)).rejects.toEqual(fault)
    },
  )
})

describe('a server that stops answering', () => {
  test.each([
    ['after the connection', {}],
    ['at the search', { bind: () => 0 }],
    [
      'at the bind of the user',
      {
        bind: (name: string) => (name === reader ? 0 : undefined),
        search: () => [entry('anna')],
      },
    ],
  ])('%s is a fault within the time limit', async (_, options) => {
    const { url } = await startFakeDirectory(options)

    await expect(directory([url]).verify(login)).rejects.toEqual(fault)
  })

  test('before the handshake of LDAPS is a fault', async () => {
    const { url } = await startFakeDirectory({ deaf: true })

    await expect(directory([url.replace('ldap:', 'ldaps:')]).verify(login)).rejects.toThrow(
      'timeout while connecting',
    )
  })

  test('between StartTLS and the handshake is a fault', async () => {
    const { url } = await startFakeDirectory({ silentTls: true })

    await expect(directory([url], { startTls: true }).verify(login)).rejects.toThrow(
      'timeout while connecting',
    )
  })

  test('leaves time for the next server, which is asked first from then on', async () => {
    const silent = await startFakeDirectory({})
    const good = await startFakeDirectory({ bind: checked, search: () => [entry('anna')] })
    const { verify } = directory([silent.url, good.url], { timeoutMs: 2000 })

    expect(await verify(login)).toMatchObject({ username: 'anna' })
    const asked = silent.operations.length
    expect(await verify(login)).toMatchObject({ username: 'anna' })
    expect(silent.operations).toHaveLength(asked)
  })

  test('is reported once, not at each login', async () => {
    const { url } = await startFakeDirectory({ bind: () => 0 })
    const { verify, lines } = directory([url], { timeoutMs: 100 })

    for (let turn = 0; turn < 4; turn++) await expect(verify(login)).rejects.toEqual(fault)

    expect(lines.filter((line) => line.startsWith('directory server failed'))).toHaveLength(1)
  })

  test('and a gateway that closes leaves no connection behind', async () => {
    const { url, connections } = await startFakeDirectory({ bind: () => 0, search: () => [] })
    const { close } = directory([url])

    await close()
    await until(() => connections() === 0)
  })

  test('holds up a bounded number of logins', async () => {
    const { url, operations } = await startFakeDirectory({ bind: () => 0 })
    const { verify } = directory([url], { maxConcurrent: 2 })

    const outcomes = await Promise.all(
      Array.from({ length: 40 }, () => verify(login).catch((error: Error) => error.message)),
    )

    expect(outcomes.filter((text) => text === 'too many logins at once').length).toBeGreaterThan(17)
    expect(operations.filter(({ kind }) => kind === 'search').length).toBeLessThanOrEqual(4)
  })
})

describe('the connection of the service account', () => {
  test('is shared, and a lost one is replaced: no search is anonymous', async () => {
    const { url, operations, cut } = await startFakeDirectory({
      bind: checked,
      search: () => [entry('anna')],
    })
    const { verify } = directory([url], { timeoutMs: 5000 })
    const fifty = () => Promise.all(Array.from({ length: 50 }, () => verify(login)))

    expect((await fifty()).every((person) => person?.username === 'anna')).toBe(true)
    cut()
    expect((await fifty()).every((person) => person?.username === 'anna')).toBe(true)

    const searches = operations.filter(({ kind }) => kind === 'search')
    expect(new Set(searches.map(({ boundAs }) => boundAs))).toEqual(new Set([reader]))
    const binds = operations.filter(({ kind, name }) => kind === 'bind' && name === reader)
    expect(binds).toHaveLength(2)
  })

  test('never goes on in plain text after a lost StartTLS session', async () => {
    const { tls, caFile } = await certified()
    const { url, operations, cut } = await startFakeDirectory({
      ...{ bind: checked, tls },
      search: () => [entry('anna')],
    })
    const { verify } = directory([url], { startTls: true, caFile, timeoutMs: 5000 })

    for (let turn = 0; turn < 3; turn++) {
      expect(await verify(login)).toMatchObject({ username: 'anna' })
      cut()
    }
    expect(operations.length).toBeGreaterThanOrEqual(9)
    expect(operations.every(({ secure }) => secure)).toBe(true)
  })
})

describe('a hostile server, or someone in between', () => {
  test('cannot slip plain text into a StartTLS session', async () => {
    const { tls, caFile } = await certified()
    // The beginning of a message whose rest would be the first bytes that TLS protects.
    const injected = Buffer.from([0x30, 0x16, 0x02, 0x01, 0x02, 0x61, 0x11, 0x0a, 0x01, 0x00, 0x04])
    const { url, operations } = await startFakeDirectory({ bind: () => 49, tls, injected })

    await expect(directory([url], { startTls: true, caFile }).verify(login)).rejects.toThrow(
      'plain text after the answer to StartTLS',
    )
    expect(operations).toEqual([])
  })

  test('cannot fill the memory with one answer', async () => {
    let sent = 0
    const { url } = await startFakeDirectory({
      bind: () => 0,
      onSearch(socket) {
        socket.write(Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff]))
        const chunk = Buffer.alloc(65_536)
        const more = () => {
          for (let room = true; room && !socket.destroyed; sent++) room = socket.write(chunk)
        }
        socket.on('drain', more)
        more()
      },
    })

    await expect(directory([url], { timeoutMs: 20_000 }).verify(login)).rejects.toEqual(fault)
    expect(sent * 65_536).toBeLessThan(64 * 1_048_576)
  })

  test.each([
    [
      'thousands of small messages',
      Buffer.concat(Array.from({ length: 9000 }, () => result(99, 0x65, 0))),
    ],
    ['another protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['zeros', Buffer.alloc(60_000)],
    ['an empty sequence', Buffer.from([0x30, 0x00, 0x30, 0x00])],
    ['an unknown operation', Buffer.from([0x30, 0x05, 0x02, 0x01, 0x03, 0x7f, 0x00])],
  ])('cannot end the process with %s', async (_, bytes) => {
    const { url } = await startFakeDirectory({
      bind: () => 0,
      onSearch: (socket) => void socket.write(bytes),
    })

    await expect(directory([url]).verify(login)).rejects.toEqual(fault)
  })

  test('cannot make a person of an entry without a DN', async () => {
    const { url, operations } = await startFakeDirectory({
      bind: () => 0,
      search: () => [{ ...entry('anna'), dn: '' }],
    })

    await expect(directory([url]).verify(login)).rejects.toEqual(fault)
    expect(operations.filter(({ kind, name }) => kind === 'bind' && name === '')).toEqual([])
  })
})

describe('Active Directory', () => {
  const people: Readonly<Record<string, string>> = {
    'bob@corp.example': 'ann-secret',
    'uid=bob,dc=example': 'bob-secret',
    'anna@corp.example': 'anna-secret',
    'uid=anna,dc=example': 'anna-secret',
  }
  const principal = {
    ...{ bindDn: undefined, bindPassword: undefined },
    userPrincipal: '{username}@corp.example',
  }
  const start = (name: string, more: FakeEntry['attributes'] = {}) =>
    startFakeDirectory({
      bind: (who, password) => (people[who] === password ? 0 : 49),
      search: () => [entry(name, more)],
    })

  test('binds as a principal name, and reads the entry as that person', async () => {
    const { url, operations } = await start('anna')

    expect(await directory([url], principal).verify(login)).toMatchObject({ username: 'anna' })
    expect(operations.find(({ kind }) => kind === 'search')?.boundAs).toBe('anna@corp.example')
  })

  test('does not log in Ann as Bob, whose name her principal name has', async () => {
    const { url } = await start('bob')
    const { verify, lines } = directory([url], principal)

    expect(await verify({ username: 'bob', password: 'ann-secret' })).toBeUndefined()
    expect(lines.join('\n')).toContain('those of two people')
  })

  test.each([' anna', 'änna', 'anna\u00a0', 'ａnna'])(
    'is not asked about the spelling %j, which it would ignore',
    async (username) => {
      const { url, operations } = await start('anna')

      const { verify } = directory([url], principal)
      expect(await verify({ username, password: 'anna-secret' })).toBeUndefined()
      expect(operations).toEqual([])
    },
  )

  test('says in the log, and only there, that an account is locked out', async () => {
    const refusal =
      '80090308: LdapErr: DSID-0C09042A, comment: AcceptSecurityContext error, data 775, v3839'
    const { url } = await startFakeDirectory({
      bind: checked,
      search: () => [entry('anna')],
      refusal,
    })
    const { verify, lines } = directory([url])

    expect(await verify({ username: 'anna', password: 'wrong' })).toBeUndefined()
    expect(lines.join('\n')).toContain('account locked out')
  })

  test('refuses to decide by a list of groups that was cut', async () => {
    const { url } = await startFakeDirectory({
      bind: checked,
      search: () => [entry('anna', { 'memberOf;range=0-1499': ['cn=a,dc=example'] })],
    })
    const groups = { attribute: 'memberOf', filter: '(member={dn})', nested: false }

    const { verify, states } = directory([url], { groups })
    await expect(verify(login)).rejects.toThrow('use groups.base')
    await expect(verify(login)).rejects.toEqual(fault)
    // The entry is at fault, not the server.
    expect(states()).toMatchObject([{ reachable: true }])
  })
})
