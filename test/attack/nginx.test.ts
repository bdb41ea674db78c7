import { describe, expect, test } from 'vitest'
import { canonicalPath } from '../../src/policy/rule/canonical-path.ts'
import { asked } from '../support/forward-auth.ts'
import { mountKeys, newKey, signedBy } from '../support/keys.ts'
import { startNginx } from '../support/nginx.ts'
import { allowedUnderEveryReading } from '../support/path-oracle.ts'
import { type RawAnswer, request, sendRaw } from '../support/raw-client.ts'
import { type PosternOptions, startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

/** Clients are at another address than nginx, which is the trusted one. */
const client = '127.0.0.9'

interface Sent {
  readonly as?: string
  readonly headers?: readonly string[]
  readonly body?: string
}

/** Postern, the sample nginx that asks it, and the backend that nginx alone forwards to. */
async function startBehindNginx(
  options: PosternOptions = {},
  changes: Readonly<Record<string, string>> = {},
) {
  const postern = await startPostern({ ...options, config: asked(options.config) })
  const port = await startNginx({
    ports: {
      '127.0.0.1:8000': postern.publicPort,
      '127.0.0.1:9101': postern.forwardAuthPort ?? 0,
      '127.0.0.1:8080': postern.upstream.port,
    },
    changes,
  })

  async function call(
    line: string,
    { as, headers = [], body = '' }: Sent = {},
  ): Promise<RawAnswer> {
    const all = [
      ...(as === undefined ? [] : [`Authorization: Bearer ${tokenOf(as)}`]),
      ...(body === '' ? [] : [`Content-Length: ${body.length}`]),
      ...headers,
    ]
    const bytes = Buffer.from(request(line, all, body), 'latin1')
    const { answers } = await sendRaw(port, bytes, { localAddress: client })
    const [answer] = answers
    if (answer === undefined) throw new Error(`no answer to ${line}`)
    return answer
  }

  return { postern, backend: postern.upstream, call, port }
}

// test/support/services/setup.ts has said so where there is none.
describe.skipIf(process.env['POSTERN_TEST_NGINX'] === '')('behind a real nginx', () => {
  test('an allowed call arrives with who calls, and without the token', async () => {
    const { backend, call } = await startBehindNginx()
    const headers = [`Cookie: a=1; jwt=${tokenOf('editor')}; b=2`]

    const answer = await call('GET /api/v1/public/a?x=%2f&y', { as: 'editor', headers })

    expect(answer.body).toBe('{"ok":true}')
    const [sent] = backend.requests
    expect(sent?.target).toBe('/api/v1/public/a?x=%2f&y')
    expect(sent?.values('X-User-Id')).toEqual(['42'])
    expect(sent?.values('X-Role-Key')).toEqual(['editor'])
    expect(sent?.values('X-Data-Scope')).toEqual(['3'])
    expect(sent?.values('X-User-Name')).toEqual(['editor-user'])
    expect(sent?.values('X-Role-Id')).toEqual(['7'])
    expect(sent?.values('X-Forwarded-For')).toEqual([client])
    expect(sent?.values('Authorization')).toEqual([])
    expect(sent?.values('Cookie')).toEqual(['a=1; b=2'])
  })

  test.each([
    ['nobody', 'GET /api/v1/public/a', undefined, 401],
    ['a role without the permission', 'DELETE /api/v1/public/a', 'editor', 403],
    ['the removed endpoint', 'GET /api/v1/refresh_token', 'admin', 404],
    ['a path with two readings', 'GET /api/v1/public/..;/sys-user', 'editor', 400],
    ['TRACE', 'TRACE /api/v1/public/a', 'admin', 405],
  ])('%s gets the real status, and the backend nothing', async (_, line, as, status) => {
    const { backend, call } = await startBehindNginx()

    const answer = await call(line, as === undefined ? {} : { as })

    expect(answer.status).toBe(status)
    expect(answer.header('www-authenticate')).toBe(status === 401 ? 'Bearer' : undefined)
    expect(backend.bytes()).toBe(0)
  })

  test('what a client says about itself is gone, with a caller and without one', async () => {
    const { backend, call } = await startBehindNginx({
      routes: [{ path: '/open', access: 'public', reason: 'a test' }],
    })
    const forged = [
      'X-User-Id: forged',
      'X_User_Id: forged',
      'X-Role-Key: forged',
      'x-data-scope: forged',
      'X-User-Name: forged',
      'X-Role-Id: forged',
      'X-Postern-Assertion: forged',
      'X-Forwarded-For: forged',
      'X-Forwarded-Uri: forged',
      'X-Forwarded-Method: forged',
      'X-Forwarded-Host: forged',
      'X-Original-URI: forged',
      'X-Original-Method: forged',
      'X-Original-URL: forged',
      'X-Rewrite-URL: forged',
      'X-HTTP-Method-Override: forged',
      'Forwarded: for=forged',
      'X-Real-IP: forged',
      'X-Accel-Mapping: forged',
      'X-Sendfile-Type: forged',
      'X-Middleware-Subrequest: forged',
    ]

    await call('GET /api/v1/public/a', { as: 'editor', headers: forged })
    await call('GET /open/a', { headers: forged })
    // Connection lists what the next hop is to take off: not what nginx sets.
    await call('GET /api/v1/public/b', {
      as: 'editor',
      headers: ['Connection: close, X-User-Id, X-Original-URI, Authorization'],
    })

    expect(backend.requests.map(({ target }) => target)).toEqual([
      '/api/v1/public/a',
      '/open/a',
      '/api/v1/public/b',
    ])
    const texts = backend.requests.map(({ headers }) => JSON.stringify(headers))
    expect(texts.filter((text) => text.includes('forged'))).toEqual([])
    expect(backend.requests.map((sent) => sent.values('X-User-Id'))).toEqual([['42'], [], ['42']])
  })

  test('forged originals do not change what is asked about', async () => {
    const { backend, call } = await startBehindNginx()
    const headers = [
      'X-Original-URI: /api/v1/public/a',
      'X-Original-Method: GET',
      'X-Forwarded-Uri: /api/v1/public/a',
      'X-Forwarded-Method: GET',
    ]

    const other = await call('GET /api/v1/sys-user', { as: 'editor', headers })
    const method = await call('DELETE /api/v1/public/a', { as: 'editor', headers })

    expect([other.status, method.status]).toEqual([403, 403])
    expect(backend.bytes()).toBe(0)
  })

  test('what was decided on is what arrives, in every spelling of a path', async () => {
    const { postern, backend, call } = await startBehindNginx()
    const spellings = [
      '/api/v1/public/a',
      '/api/v1/public/a/',
      '/api/v1/public/%61',
      '/api/v1/%70ublic/a',
      '/api/v1/public/a%20b',
      '/api/v1/public/%e4%bd%a0',
      '/api/v1/public/a+b%2B',
      '/api/v1/public/a@b:c',
      '/api/v1/public/a%40b%3Ac',
      '/api/v1/public/a?next=/api/v1/public/../sys-user',
      '/api/v1//public/a',
      '//api/v1/public/a',
      '/api/v1/public//../sys-user',
      '/api/v1/public/../sys-user',
      '/api/v1/public/..',
      '/api/v1/public/./a',
      '/api/v1/sys-user/../public/a',
      '/api/v1/public/..%2fsys-user',
      '/api/v1/public/%2e%2e/sys-user',
      '/api/v1/public/%2e%2e%2fsys-user',
      '/api/v1/public/..%252fsys-user',
      '/api/v1/public/..;/sys-user',
      '/api/v1/public/;/../sys-user',
      '/api/v1/sys-user;/../public/a',
      '/api/v1/public/a;x=1',
      '/api/v1/public/..\\sys-user',
      '/api/v1/public/..%5csys-user',
      '/api/v1/sys-user#/../public/a',
      '/api/v1/sys-user%23/../../public/a',
      '/api/v1/public/a%00',
      '/api/v1/public/%c0%ae%c0%ae/sys-user',
      '/api/v1/public/\xe4',
      'http://gateway.test/api/v1/public/a',
      'http://evil.example/api/v1/sys-user',
      '/api/v1/%6cogin/../public/a',
      '/_postern',
      '/api/v1/public/../../../_postern',
    ]

    const passed: string[] = []
    for (const target of spellings) {
      const before = backend.requests.length
      const answer = await call(`GET ${target}`, { as: 'editor' })
      expect([target, answer.status]).toEqual([target, expect.toBeOneOf([200, 400, 403, 404])])
      const arrived = backend.requests.slice(before).map((sent) => sent.target)
      expect([target, arrived.length]).toEqual([target, answer.status === 200 ? 1 : 0])
      passed.push(...arrived)
    }

    const decided = postern
      .logText()
      .split('\n')
      .filter((line) => line.includes('"contract":"nginx"') && line.includes('"status":200'))
      .map((line) => JSON.parse(line).path)
    expect(passed.map((target) => canonicalPath(target.split('?')[0] ?? ''))).toEqual(decided)
    expect(passed.filter((target) => !allowedUnderEveryReading(target))).toEqual([])
    // All but the encoded letters of the first ten, and an absolute form, which nginx takes apart.
    expect(passed).toEqual([
      ...spellings.slice(0, 10).filter((target) => !/%6|%7/.test(target)),
      '/api/v1/public/a',
    ])
  })

  test('login goes to Postern, and its cookie rule is kept', async () => {
    const { backend, call } = await startBehindNginx()
    const cookie = `Cookie: jwt=${tokenOf('editor')}`

    const captcha = await call('GET /api/v1/getCaptcha')
    const login = await call('POST /api/v1/login', {
      headers: ['Content-Type: application/json'],
      body: '{}',
    })
    const foreign = await call('POST /api/v1/articles', {
      headers: [cookie, 'Origin: https://evil.example'],
    })
    const own = await call('POST /api/v1/articles', {
      headers: [cookie, 'Origin: http://gateway.test'],
    })

    expect(captcha.json()).toMatchObject({ code: 200 })
    expect(login.json()).toMatchObject({ code: 400 })
    expect([foreign.status, own.status]).toEqual([403, 200])
    expect(backend.requests.map(({ line }) => line)).toEqual(['POST /api/v1/articles HTTP/1.1'])
  })

  test('the token in a query is found, and is not strippable here', async () => {
    const { backend, call } = await startBehindNginx()
    const target = `/api/v1/public/a?token=${tokenOf('editor')}`

    const answer = await call(`GET ${target}`)

    expect(answer.status).toBe(200)
    expect(backend.requests[0]?.target).toBe(target)
  })

  test('the jwt cookie is taken off wherever it stands, and all of them if there are two', async () => {
    const { backend, call } = await startBehindNginx()
    const cookies = [
      'jwt=x',
      'jwt=x; a=1',
      'a=1; jwt=x',
      'a=1;jwt=x;b=2',
      'xjwt=1; ajwt=jwt',
      'jwt=x; a=1; jwt=y',
    ]

    for (const cookie of cookies) {
      await call('GET /api/v1/public/a', { as: 'editor', headers: [`Cookie: ${cookie}`] })
    }

    expect(backend.requests.map((sent) => sent.values('Cookie').join())).toEqual([
      '',
      'a=1',
      'a=1;',
      'a=1;b=2',
      'xjwt=1; ajwt=jwt',
      '',
    ])
  })

  test('a WebSocket goes on, h2c does not', async () => {
    const { backend, call } = await startBehindNginx()
    const upgrade = (protocol: string) => ['Connection: Upgrade', `Upgrade: ${protocol}`]

    await call('GET /api/v1/public/a', { as: 'editor', headers: upgrade('WebSocket') })
    await call('GET /api/v1/public/b', { as: 'editor', headers: upgrade('h2c') })

    expect(backend.requests.map((sent) => sent.values('Upgrade'))).toEqual([['websocket'], []])
    expect(backend.requests.map((sent) => sent.values('Connection'))).toEqual([['upgrade'], []])
  })

  test('the limit of a route is 429 with the time to wait', async () => {
    const { backend, call } = await startBehindNginx({
      routes: [{ path: '/api', limit: { requests: 1, seconds: 86_400 } }],
    })

    await call('GET /api/v1/public/a', { as: 'editor' })
    const second = await call('GET /api/v1/public/a', { as: 'editor' })

    expect(second.status).toBe(429)
    expect(second.header('retry-after')).toMatch(/^\d+$/)
    expect(backend.requests).toHaveLength(1)
  })

  test('without Postern nothing passes', async () => {
    const { postern, backend, call } = await startBehindNginx()
    await postern.close()

    const answer = await call('GET /api/v1/public/a', { as: 'admin' })

    expect(answer.status).toBe(503)
    expect(backend.bytes()).toBe(0)
  })

  test('the assertion arrives', async () => {
    const key = newKey()
    const { directory } = await mountKeys({ 'a.pem': key.privatePem })
    const { backend, call } = await startBehindNginx({
      config: {
        jwt: { secret: undefined, keyDirectory: directory },
        identity: { assertion: { enabled: true, audience: 'services' } },
      },
    })
    const headers = [
      `Authorization: Bearer ${signedBy(key, { kid: 'a' })}`,
      'X-Postern-Assertion: x',
    ]

    await call('GET /api/v1/public/a', { headers })

    const values = backend.requests[0]?.values('X-Postern-Assertion')
    expect(values).toEqual([expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/)])
  })
})

describe('why the sample asks about $request_uri', () => {
  // The bypass that this configuration is written against: nginx resolves, the backend need not.
  test('with $uri, what was decided on is not what arrives', async () => {
    const { backend, call } = await startBehindNginx(
      {},
      {
        'auth_request /_postern;': 'set $asked $uri; auth_request /_postern;',
        'X-Original-URI $request_uri;': 'X-Original-URI $asked;',
      },
    )

    await call('GET /api/v1/sys-user/%2e%2e/public/a', { as: 'editor' })

    expect(backend.requests.map(({ target }) => target)).toEqual([
      '/api/v1/sys-user/%2e%2e/public/a',
    ])
  })
})
