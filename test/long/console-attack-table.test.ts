import { describe, expect, test } from 'vitest'
import { openApiDocument } from '../../scripts/generate/console-openapi.ts'
import { renderingOf } from '../../src/cli/commands/renderings.ts'
import { isAtLeast } from '../../src/console/access/roles.ts'
import { acceptedBy } from '../../src/console/api/register.ts'
import { type Call, calls, hasFiles, isPost, pathOf } from '../../src/operations/offered/offered.ts'
import { startConsole, type TestConsole } from '../support/start-console.ts'
import { claimsOf, forge, nowSeconds, testSecret, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const roles = { reader: ['editor'], author: [], publisher: ['admin'] }

/** What people need before they have logged in. A new one must be added here, and so be thought about. */
const open = new Set([
  'GET providers',
  'GET captcha',
  'GET captcha.wav',
  'POST login',
  'GET login/oidc/{provider}',
  'GET login/oidc/{provider}/callback',
])

/** Every call of the API that needs a session, from its description, which a test compares with the server. */
async function everyCall(): Promise<readonly string[]> {
  const { paths } = (await openApiDocument(renderingOf)) as { paths: Record<string, object> }
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.slice(1)}`),
  )
  for (const line of open) expect(all).toContain(line)
  return all.filter((line) => !open.has(line))
}

function lineOf(call: Call): string {
  return `${isPost(call) ? 'POST' : 'GET'} ${pathOf(call)}`
}

/** What no attack may change. */
async function stateOf(target: TestConsole): Promise<string> {
  const lines = ['user list', 'role list', 'audit list --limit 1000', 'token list']
  const answers = lines.map(async (line) => (await target.postern(`${line} --output json`)).out)
  return (await Promise.all(answers)).join('')
}

const files = [{ name: 'policy.csv', text: '' }]

/** A request that only lacks what the test takes away. */
function bodyOf(call: Call): object {
  return hasFiles(call) ? { files } : {}
}

describe('every call of the management API', () => {
  test('is refused to strangers, gateway tokens, and sessions that were forged, revoked or have expired', async () => {
    let time = Date.now() / 1000
    const config = { console: { port: 0, write: true, roles } }
    const target = await startConsole({ isWhole: true, ownDatabase: true, now: () => time, config })
    const other = await startConsole({ config: { jwt: { secret: `another-${testSecret}` } } })
    const expired = await target.logIn()
    time += 28_801
    const revoked = await target.logIn()
    await target.call('POST logout', { cookie: revoked })
    const valid = await target.logIn()
    const [name, text = ''] = valid.split('=')
    const token = tokenOf('admin', { identity: 1 })
    const strangers = {
      'no session': {},
      'a gateway token as session': { cookie: `${name}=${token}` },
      'a gateway token in its own cookie': { cookie: `jwt=${token}` },
      'a gateway token in the header': { headers: [`Authorization: Bearer ${token}`] },
      'a session in the header': { headers: [`Authorization: Bearer ${text}`] },
      'a session in another cookie': { cookie: `jwt=${text}` },
      'an unsigned session': { cookie: `${name}=eyJhbGciOiJub25lIn0.e30.` },
      'a session of another key': { cookie: await other.logIn() },
      'a changed session': { cookie: `${valid.slice(0, -4)}AAAA` },
      'two sessions': { cookie: `${valid}; ${valid}` },
      'an expired session': { cookie: expired },
      'a revoked session': { cookie: revoked },
    }
    const before = await stateOf(target)

    for (const line of await everyCall()) {
      for (const [who, call] of Object.entries(strangers)) {
        const answer = await target.call(line, call)
        expect([line, who, answer.status]).toEqual([line, who, 401])
        expect([who, answer.header('set-cookie')]).toEqual([who, undefined])
        expect(answer.json()).toMatchObject({ ok: false })
      }
    }
    expect(await stateOf(target)).toBe(before)
    expect((await target.call('GET session', { cookie: valid })).status).toBe(200)
  })

  test('is refused to other sites, other hosts, frames and forms, whoever is logged in', async () => {
    const config = { console: { port: 0, write: true, roles } }
    const target = await startConsole({ isWhole: true, ownDatabase: true, config })
    const cookie = await target.logIn()
    const before = await stateOf(target)
    const foreign = [
      ['Sec-Fetch-Site: cross-site'],
      ['Sec-Fetch-Site: same-site'],
      ['Origin: https://evil.example'],
      ['Origin: null'],
    ]

    for (const line of [...(await everyCall()), 'GET providers', 'POST login']) {
      for (const headers of foreign) {
        const answer = await target.call(line, { cookie, headers })
        expect([line, headers, answer.status]).toEqual([line, headers, 403])
        // No answer may be shown in a frame or read by another origin.
        expect(answer.header('x-frame-options')).toBe('DENY')
        expect(answer.header('content-security-policy')).toContain("frame-ancestors 'none'")
        expect(answer.header('access-control-allow-origin')).toBeUndefined()
      }
      const rebound = await target.call(line, { cookie, host: 'evil.example' })
      expect([line, rebound.status]).toEqual([line, 421])
      if (line.startsWith('GET')) continue
      for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
        const headers = [`Content-Type: ${type}`]
        const form = await target.call(line, { cookie, headers, body: '{}' })
        expect([line, type, form.status]).toEqual([line, type, 415])
      }
    }
    expect(await stateOf(target)).toBe(before)
  })

  test.each(['reader', 'author'] as const)('is refused to a %s if it is for more', async (role) => {
    const own = { reader: [], author: [], publisher: ['admin'], [role]: ['editor'] }
    const config = { console: { port: 0, write: true, roles: own } }
    const target = await startConsole({ isWhole: true, ownDatabase: true, config })
    const cookie = await target.logIn('editor')
    const before = await stateOf(target)

    for (const each of calls.filter((call) => !isAtLeast(role, call.role))) {
      const line = lineOf(each)
      const { status, body } = await target.call(line, { cookie, body: bodyOf(each) })
      expect([line, status]).toEqual([line, 403])
      expect(body).toContain('not-permitted')
    }
    expect(await stateOf(target)).toBe(before)
  })
})

describe('every call of the management API, with service accounts in console.services', () => {
  const services = { reader: ['watcher'], author: ['ci'], publisher: ['release'] }
  const config = {
    tokens: { service: { enabled: true } },
    console: { port: 0, write: true, roles, services },
  }
  /** Only for people. */
  const personal = new Set(['GET session', 'POST session/confirm', 'POST logout'])
  const bearer = (token: string) => ({ headers: [`Authorization: Bearer ${token}`] })
  const tokenFor = (name: string, changes = {}) =>
    tokenOf('admin', { kind: 'service', nice: name, identity: 900_002, ...changes })

  test('is refused to tokens that are not valid tokens of one of them', async () => {
    const target = await startConsole({ isWhole: true, ownDatabase: true, config })
    expect((await target.postern('service add release --role admin')).code).toBe(0)
    const revoked = (await target.postern('token issue release --expires 1d')).out.trim()
    await target.postern('token revoke --user release')
    await until(async () => (await target.call('GET user/list', bearer(revoked))).status === 401)
    const cookie = await target.logIn()
    const valid = tokenFor('release')
    const [header = '', payload = ''] = valid.split('.')
    const now = nowSeconds()
    const attacks: Readonly<Record<string, readonly [object, number, string?]>> = {
      'a revoked token': [bearer(revoked), 401],
      'an expired token': [bearer(tokenFor('release', { exp: now - 1, orig_iat: now - 9 })), 401],
      'a token of a person': [bearer(tokenOf('admin', { identity: 1 })), 401],
      'a person of that name': [bearer(tokenOf('admin', { identity: 1, nice: 'release' })), 401],
      'another kind': [bearer(tokenFor('release', { kind: 'Service' })), 401],
      'another secret': [bearer(forge({ payload: claimsOf('admin'), secret: 'other' })), 401],
      'no signature': [bearer(`${header}.${payload}.`), 401],
      'a session in the header': [bearer(cookie.slice(cookie.indexOf('=') + 1)), 401],
      'another account': [bearer(tokenFor('other')), 403],
      'the name in other letters': [bearer(tokenFor('Release')), 403],
      'the name of a member of objects': [bearer(tokenFor('constructor')), 403],
      'a console role as name': [bearer(tokenFor('publisher')), 403],
      'a token as session': [{ cookie: `postern-console=${valid}` }, 401],
      'a token in the cookie of the gateway': [{ cookie: `jwt=${valid}` }, 401],
      'a token in the address': [{}, 401, `?token=${valid}&access_token=${valid}`],
      'a token beside a session': [{ ...bearer(valid), cookie }, 400],
      'a refused token beside a session': [{ ...bearer(revoked), cookie }, 400],
      'a token from another site': [
        { headers: [...bearer(valid).headers, 'Origin: https://evil.example'] },
        403,
      ],
      'two tokens': [{ headers: [...bearer(valid).headers, ...bearer(revoked).headers] }, 400],
    }
    const before = await stateOf(target)

    for (const line of await everyCall()) {
      for (const [what, [call, status, query = '']] of Object.entries(attacks)) {
        const answer = await target.call(`${line}${query}`, call)
        expect([line, what, answer.status]).toEqual([line, what, status])
        expect([what, answer.header('set-cookie')]).toEqual([what, undefined])
        expect(answer.json()).toMatchObject({ ok: false })
        expect(answer.body).not.toContain(payload)
      }
      if (!personal.has(line)) continue
      const answer = await target.call(line, bearer(valid))
      expect([line, answer.status]).toEqual([line, 403])
      expect(answer.body).toContain('person-required')
    }
    expect(await stateOf(target)).toBe(before)
    expect((await target.call('GET user/list', bearer(valid))).status).toBe(200)
    expect(target.logText()).not.toContain(payload)
  })

  test.each([
    ['reader', 'watcher'],
    ['author', 'ci'],
  ] as const)('is refused to a %s if it is for more', async (role, name) => {
    const target = await startConsole({ isWhole: true, ownDatabase: true, config })
    const before = await stateOf(target)

    // The token has the role admin, which opens everything to people.
    const token = tokenFor(name)
    for (const each of calls.filter((call) => !isAtLeast(role, call.role))) {
      const line = lineOf(each)
      const answer = await target.call(line, { ...bearer(token), body: bodyOf(each) })
      expect([line, answer.status]).toEqual([line, 403])
      expect(answer.body).toContain(`is in console.services.${role}, and this needs`)
    }
    expect(await stateOf(target)).toBe(before)
  })
})

describe('every operation', () => {
  test('accepts no member that its table does not name, not even one that its command has', async () => {
    const config = { console: { port: 0, write: true, roles } }
    const target = await startConsole({ isWhole: true, ownDatabase: true, config })
    const cookie = await target.logIn()
    const before = await stateOf(target)

    for (const call of calls) {
      const accepted = new Set((await acceptedBy(call, renderingOf)).map(({ name }) => name))
      const fields = Object.keys(call.operation.input)
      const others = [...fields, 'config', 'isAdmin', 'actor', '__proto__', 'constructor']
      for (const name of others.filter((each) => !accepted.has(each))) {
        const isQuestion = !isPost(call)
        const line = `${lineOf(call)}${isQuestion ? `?${name}=true` : ''}`
        const members = { ...bodyOf(call), ...Object.fromEntries([[name, true]]) }
        const answer = await target.call(line, isQuestion ? { cookie } : { cookie, body: members })
        expect([line, name, answer.status]).toEqual([line, name, 400])
      }
      if (!isPost(call)) continue
      // A link must not carry what a person confirms.
      const link = `${lineOf(call)}?confirm=editor&name=editor`
      const { status, body } = await target.call(link, { cookie, body: bodyOf(call) })
      expect([link, status, body]).toEqual([link, 400, expect.stringContaining('into the body')])
    }
    expect(await stateOf(target)).toBe(before)
  })

  test('survives forged names, IDs and revisions, and changes nothing for them', async () => {
    const config = { console: { port: 0, write: true, roles } }
    const target = await startConsole({ isWhole: true, ownDatabase: true, config })
    const cookie = await target.logIn()
    const before = await stateOf(target)
    const forged = [
      'console-00000000-0000-4000-8000-000000000000',
      'r-0000000000000000',
      "x' or '1'='1' --",
      '../../etc/passwd',
      '<script>alert(1)</script>',
      '--config=/dev/null',
    ]

    for (const call of calls) {
      const texts = (await acceptedBy(call, renderingOf)).filter(
        ({ name, schema }) => schema.type === 'string' && !('enum' in schema) && name !== 'confirm',
      )
      for (const value of texts.length === 0 ? [] : forged) {
        const input = Object.fromEntries(texts.map(({ name }) => [name, value]))
        const isQuestion = !isPost(call)
        const query = isQuestion ? `?${new URLSearchParams(input)}` : ''
        const confirm = call.operation.confirms === undefined ? {} : { confirm: value }
        const answer = await target.call(`${lineOf(call)}${query}`, {
          cookie,
          ...(!isQuestion && { body: { ...bodyOf(call), ...input, ...confirm } }),
        })
        const command = call.operation.name
        expect([
          command,
          value,
          [200, 400, 422, 503].includes(answer.status),
          answer.status,
        ]).toEqual([...[command, value, true, answer.status]])
        expect(answer.header('set-cookie')).toBeUndefined()
        expect([command, answer.body.includes('root:')]).toEqual([command, false])
      }
    }
    expect(await stateOf(target)).toBe(before)
    expect(target.logText()).not.toContain('console command failed')
    expect(target.logText()).not.toContain('console request failed')
  })
})
