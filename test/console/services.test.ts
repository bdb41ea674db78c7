import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { cookieIn, startConsole, type TestConsole } from '../support/start-console.ts'
import { claimsOf, forge, nowSeconds, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

/** Names of their own, because tests share the accounts. */
function newNames() {
  const id = randomUUID()
  return {
    ...{ reader: `reader-${id}`, author: `author-${id}`, publisher: `publisher-${id}` },
    other: `other-${id}`,
  }
}

async function start(options: Parameters<typeof startConsole>[0] = {}) {
  const { other, ...listed } = newNames()
  const services = Object.fromEntries(Object.entries(listed).map(([role, name]) => [role, [name]]))
  const console = await startConsole({
    ...options,
    config: {
      tokens: { service: { enabled: true } },
      console: { port: 0, write: true, services },
      ...options.config,
    },
  })
  return { console, names: { ...listed, other } }
}

/** The token of a new service account. */
async function issue({ postern }: TestConsole, name: string, role = 'editor', expires = '1d') {
  expect((await postern(`service add ${name} --role ${role}`)).code).toBe(0)
  const { code, out } = await postern(`token issue ${name} --expires ${expires}`)
  expect(code).toBe(0)
  return out.trim()
}

const bearer = (token: string) => ({ headers: [`Authorization: Bearer ${token}`] })

/** A token as the gateway issues them, for an account of the test's choice. */
const tokenFor = (name: string, changes = {}) =>
  tokenOf('editor', { kind: 'service', nice: name, identity: 900_001, ...changes })

const kindOf = (body: string) => JSON.parse(body).type?.replace('urn:postern:problem:', '')

describe('a service account', () => {
  test('calls with its token what its role in console.services allows, without a password', async () => {
    const { console, names } = await start()
    const tokens = {
      reader: await issue(console, names.reader),
      // Its role as an account has no effect here.
      author: await issue(console, names.author, 'admin'),
      publisher: await issue(console, names.publisher),
    }
    const statusOf = async (line: string, token: string) =>
      (await console.call(line, bearer(token))).status

    for (const [role, expected] of Object.entries({
      reader: [200, 403, 403],
      author: [200, 200, 403],
      publisher: [200, 200, 200],
    })) {
      const token = tokens[role as keyof typeof tokens]
      const probes = ['reader', 'author', 'publisher'].map((each) =>
        statusOf(`GET probe/${each}`, token),
      )
      expect([role, await Promise.all(probes)]).toEqual([role, expected])
    }
    const low = await console.call('GET probe/publisher', bearer(tokens.author))
    expect(low.json()).toMatchObject({
      type: 'urn:postern:problem:not-permitted',
      detail: `service account ${names.author} is in console.services.author, and this needs publisher`,
    })
    const written = await console.call('POST probe/write', bearer(tokens.publisher))
    expect([written.status, written.body]).toEqual([200, names.publisher])
    expect(written.header('set-cookie')).toBeUndefined()
  })

  test('is not known without console.services, whatever tokens.service says', async () => {
    const { console, names } = await start({ config: { console: { port: 0 } } })
    const token = await issue(console, names.publisher, 'admin')
    const answer = await console.call('GET probe/reader', bearer(token))
    expect([answer.status, kindOf(answer.body)]).toEqual([401, 'token-missing'])
    // A proxy in front may send one of its own beside the session.
    const call = { ...bearer('x.y.z'), cookie: await console.logIn() }
    expect((await console.call('GET probe/reader', call)).status).toBe(200)
  })

  test('is refused with a clear reason unless its token is valid and it has a role', async () => {
    let time = nowSeconds()
    const { console, names } = await start({ now: () => time })
    const revoked = await issue(console, names.reader)
    expect((await console.postern(`token revoke --user ${names.reader}`)).code).toBe(0)
    await until(
      async () => (await console.call('GET probe/reader', bearer(revoked))).status === 401,
    )
    const removed = await issue(console, names.author)
    await console.postern(`service remove ${names.author}`)
    await until(
      async () => (await console.call('GET probe/reader', bearer(removed))).status === 401,
    )
    const none = await issue(console, names.other, 'admin')
    const expired = await issue(console, names.publisher, 'editor', '1h')
    const longest = { exp: time + 366 * 86_400, orig_iat: time }
    const good = tokenFor(names.publisher, { exp: time + 200_000 })
    expect((await console.call('GET probe/reader', bearer(expired))).status).toBe(200)
    // Issued by the clock of the command, which may be seconds ahead by now.
    time = nowSeconds() + 3601
    const unsigned = forge({
      header: { alg: 'none', typ: 'JWT' },
      payload: claimsOf('editor', { kind: 'service', nice: names.publisher }),
    })
    const refused: readonly (readonly [string, string[], number, string])[] = [
      ['revoked', bearer(revoked).headers, 401, 'token-revoked'],
      ['of a deleted account', bearer(removed).headers, 401, 'token-revoked'],
      ['expired', bearer(expired).headers, 401, 'token-expired'],
      ['of an account without a role here', bearer(none).headers, 403, 'not-permitted'],
      ['of a person', bearer(tokenOf('admin', { exp: time + 99 })).headers, 401, 'token-invalid'],
      [
        'of a person with the name of a service account',
        bearer(tokenOf('admin', { nice: names.publisher, exp: time + 99 })).headers,
        ...([401, 'token-invalid'] as const),
      ],
      [
        'too long-lived',
        bearer(tokenFor(names.publisher, longest)).headers,
        401,
        'token-too-long-lived',
      ],
      ['unsigned', bearer(unsigned).headers, 401, 'token-invalid'],
      ['changed', bearer(`${good.slice(0, -4)}AAAA`).headers, 401, 'token-invalid'],
      ['no token', bearer('console').headers, 401, 'token-invalid'],
      ['in the cookie of the gateway', [`Cookie: jwt=${good}`], 401, 'token-missing'],
      ['in the cookie of the console', [`Cookie: postern-console=${good}`], 401, 'token-invalid'],
      ['with another scheme', [`Authorization: Basic ${good}`], 401, 'token-missing'],
      ['without a token', ['Authorization: Bearer '], 401, 'token-missing'],
      [
        'twice',
        [...bearer(good).headers, ...bearer(none).headers],
        ...([400, 'invalid-request'] as const),
      ],
    ]
    for (const [what, headers, status, kind] of refused) {
      for (const line of ['GET probe/reader', 'POST probe/write', 'GET live/traffic']) {
        const answer = await console.call(line, { headers })
        expect([what, line, answer.status, kindOf(answer.body)]).toEqual([what, line, status, kind])
        expect(answer.body).not.toContain(good)
      }
    }
    const inQuery = await console.call(`GET probe/reader?token=${good}&access_token=${good}`)
    expect([inQuery.status, kindOf(inQuery.body)]).toEqual([401, 'token-missing'])
    expect((await console.call('GET probe/reader', bearer(good))).status).toBe(200)
    expect((await console.call('GET probe/reader', bearer(none))).json()).toMatchObject({
      detail: `service account ${names.other} is not in console.services`,
    })
  })

  test('does not do what only a person does', async () => {
    const { console, names } = await start()
    const token = tokenFor(names.publisher)
    const password = console.passwords['admin']
    for (const line of ['GET session', 'POST session/confirm', 'POST logout']) {
      const answer = await console.call(line, { ...bearer(token), body: { password } })
      expect([line, answer.status, kindOf(answer.body)]).toEqual([line, 403, 'person-required'])
      expect(answer.header('set-cookie')).toBeUndefined()
    }
    expect((await console.call('GET probe/reader', bearer(token))).status).toBe(200)
  })

  test('is refused with a session beside its token, and to pages of other sites', async () => {
    const { console, names } = await start()
    const token = tokenFor(names.publisher)
    const cookie = await console.logIn()
    for (const [given, cookies] of [
      [token, cookie],
      ['x.y.z', cookie],
      [token, 'postern-console='],
      [token, `${cookie}; ${cookie}`],
    ] as const) {
      const answer = await console.call('GET probe/reader', { ...bearer(given), cookie: cookies })
      expect([answer.status, kindOf(answer.body)]).toEqual([400, 'two-credentials'])
    }
    const others = await console.call('GET probe/reader', {
      ...bearer(token),
      cookie: 'a=b; jwt=c',
    })
    expect(others.status).toBe(200)
    for (const header of ['Origin: https://evil.example', 'Sec-Fetch-Site: cross-site']) {
      const headers = [...bearer(token).headers, header]
      expect((await console.call('POST probe/write', { headers })).status).toBe(403)
    }
    const form = [...bearer(token).headers, 'Content-Type: text/plain']
    expect((await console.call('POST probe/write', { headers: form, body: '{}' })).status).toBe(415)
    // The token is not what logs in.
    const body = { username: 'admin', password: console.passwords['admin'] }
    const login = await console.call('POST login', { ...bearer(token), body })
    expect([login.status, cookieIn(login)]).toEqual([200, expect.stringContaining('=')])
  })

  test('follows live events until its token is revoked', async () => {
    const { console, names } = await start()
    const token = await issue(console, names.reader)
    const aborts = new AbortController()
    onTestFinished(() => aborts.abort())
    const response = await fetch(`http://127.0.0.1:${console.port}/console/api/v1/live/traffic`, {
      ...{ headers: { authorization: `Bearer ${token}` }, signal: aborts.signal },
    })
    expect(response.status).toBe(200)
    const reading = response.text()
    await console.postern(`token revoke --user ${names.reader}`)
    expect(await reading).toContain('event: history')
  })

  test('is in the audit log by its name, and its token in the list of tokens as seen', async () => {
    const { console, names } = await start({ isWhole: true })
    const token = await issue(console, names.publisher)
    await issue(console, names.other, 'admin')
    const user = `u-${randomUUID()}`
    const add = { name: user, role: 'editor' }
    const added = await console.call('POST user/add', { ...bearer(token), body: add })
    expect([added.status, added.json()]).toMatchObject([200, { done: 'add' }])
    // Only an administrator gives this role, and a program is none by its role in the console.
    const more = { name: user, confirm: user, role: 'admin' }
    expect((await console.call('POST user/role', { ...bearer(token), body: more })).status).toBe(
      403,
    )

    const { out } = await console.postern(`audit list --actor ${names.publisher} --output json`)
    expect(JSON.parse(out)).toMatchObject([
      { action: 'user.add', subject: user, actor: { kind: 'service', name: names.publisher } },
    ])
    expect(out).toContain('(console)')
    await console.close()
    const { console: next } = await start()
    const listed = await next.postern(`token list --service ${names.publisher} --output json`)
    expect(JSON.parse(listed.out)).toMatchObject([{ lastSeen: expect.stringMatching(/^\d{4}-/) }])
  })
})
