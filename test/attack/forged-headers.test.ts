import { describe, expect, test } from 'vitest'
import { speaksHttp2 } from '../support/http2-call.ts'
import { dev, goodLogin, postLogin } from '../support/log-in.ts'
import { expectRejected, expectUnauthenticated } from '../support/outcomes.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

const identity = { 'x-user-id': '42', 'x-role-key': 'editor', 'x-data-scope': '3' }

/** Each identity header stands there once, with the token's value. */
function expectIdentity(postern: TestPostern, values: Readonly<Record<string, string>> = identity) {
  const [sent] = postern.upstream.requests
  for (const [name, value] of Object.entries(values)) {
    expect([name, sent?.values(name)]).toEqual([name, [value]])
  }
}

describe('an identity header sent by a client', () => {
  test.each([
    ['the names as they are', ['X-User-Id: 1', 'X-Role-Key: admin', 'X-Data-Scope: 1']], // T045
    ['other cases', ['x-user-id: 1', 'X-ROLE-KEY: admin', 'x-Data-scope: 1']],
    ['the names twice', ['X-User-Id: 1', 'X-User-Id: 2', 'X-Role-Key: admin']],
    ['the names listed in Connection', ['Connection: close, X-User-Id, X-Role-Key']], // T050
    [
      'the names in other hop-by-hop headers', // T051
      [
        'connection:  x-user-id , ,close',
        'Connection: X-Data-Scope',
        'Keep-Alive: x-user-id',
        'Proxy-Connection: x-role-key',
        'Trailer: X-User-Id',
      ],
    ],
  ])('does not change who calls: %s', async (_, headers) => {
    const postern = await startPostern()

    await postern.call('GET /api/v1/public/a', { as: 'editor', headers })

    expectIdentity(postern)
    const names = postern.upstream.requests[0]?.headers.map(([name]) => name.toLowerCase())
    expect(names).not.toContain('keep-alive')
    expect(names).not.toContain('proxy-connection')
    expect(names).not.toContain('trailer')
  })

  // CGI, WSGI and PHP fold these into the variable of the real name (T048, CVE-2025-64484).
  test.each(['X_User_Id: 1', 'X_Role-Key: admin', 'X.Role.Key: admin', 'x_forwarded_for: 9.9.9.9'])(
    'is dropped under a name that folds to a reserved one: %s',
    async (header) => {
      const postern = await startPostern()

      await postern.call('GET /api/v1/public/a', { as: 'editor', headers: [header] })

      const names = postern.upstream.requests[0]?.headers.map(([name]) => name)
      expect(names).not.toContain(header.split(':')[0])
      expectIdentity(postern)
    },
  )

  // A gRPC service, or a grpc-gateway before it, reads these as metadata of the identity.
  test.each(['X-Role-Key-Bin: YWRtaW4', 'x_user_id_bin: MQ', 'Grpc-Metadata-X-Role-Key: admin'])(
    'is dropped as metadata of gRPC: %s',
    async (header) => {
      const postern = await startPostern()

      await postern.call('GET /api/v1/public/a', {
        as: 'editor',
        headers: [header, 'X-Trace-Bin: kept'],
      })

      const names = postern.upstream.requests[0]?.headers.map(([name]) => name.toLowerCase())
      expect(names).not.toContain(header.split(':')[0]?.toLowerCase())
      expect(names).toContain('x-trace-bin')
      expectIdentity(postern)
    },
  )

  test('is no identity on a protected path', async () => {
    const postern = await startPostern()

    const answer = await postern.call('GET /api/v1/public/a', {
      headers: ['X-User-Id: 1', 'X-Role-Key: admin'],
    })

    expectUnauthenticated(answer, postern.upstream)
  })

  test.each([
    ['admin', 'GET /api/v1/anything', '/'],
    ['editor', 'GET /open/a', '/open'],
  ])('is taken off where the permission check is skipped too, for %s', async (role, line) => {
    const postern = await startPostern({
      routes: [
        { path: '/', upstream: 'backend' },
        { path: '/open', upstream: 'backend', access: 'authenticated' },
      ],
    })

    await postern.call(line, {
      as: role,
      headers: ['X-User-Id: 1', 'X_Role_Key: x', 'X-Role-Key: x'],
    })

    expectIdentity(postern, { 'x-user-id': '42', 'x-role-key': role })
  })

  // T057
  test('is taken off on a path of the exclusion list that an upstream answers', async () => {
    const postern = await startPostern({ config: { endpoints: { profile: 'backend' } } })

    await postern.call('GET /api/v1/user/profile', {
      as: 'viewer',
      headers: ['X-User-Id: 1', 'X_Role_Key: admin', 'X-Role-Key: admin'],
    })

    expectIdentity(postern, { 'x-user-id': '42', 'x-role-key': 'viewer' })
  })

  test('is taken off on a public route, where nobody is identified', async () => {
    const postern = await startPostern({
      routes: [{ path: '/open', upstream: 'backend', access: 'public', reason: 'a test' }],
    })

    await postern.call('GET /open/a', {
      as: 'admin',
      headers: ['X-User-Id: 1', 'X-Role-Key: admin'],
    })

    const [sent] = postern.upstream.requests
    expect(sent?.values('x-user-id')).toEqual([])
    expect(sent?.values('x-role-key')).toEqual([])
    expect(sent?.values('authorization')).toEqual([])
  })

  test('does not come in through a trailer', async () => {
    const postern = await startPostern()
    const head = request('POST /api/v1/articles', [
      `Authorization: Bearer ${tokenOf('editor')}`,
      'Transfer-Encoding: chunked',
      'Trailer: X-User-Id',
    ])

    await sendRaw(postern.publicPort, `${head}3\r\nabc\r\n0\r\nX-User-Id: 1\r\n\r\n`)

    expectIdentity(postern)
    expect(postern.upstream.requests[0]?.body).toBe('abc')
    expect(postern.upstream.requests).toHaveLength(1)
  })
})

describe('what a token says', () => {
  test.each([
    ['line breaks', 'a\r\nX-Role-Key: admin', 'a%0D%0AX-Role-Key%3A%20admin'], // T054
    ['other scripts', '系统管理员', encodeURIComponent('系统管理员')],
    ['a percent sign', '%61dmin', '%2561dmin'],
    ['a space at the end', 'a ', 'a%20'],
    ['a plain text with a space', 'Ann Lee', 'Ann Lee'],
    ['half a surrogate pair', 'a\ud800', encodeURIComponent('a\ufffd')],
  ])('reaches the upstream as one value, with %s', async (_, name, sent) => {
    const postern = await startPostern()

    await postern.call('GET /api/v1/public/a', { token: tokenOf('editor', { nice: name }) })

    expect(postern.upstream.requests).toHaveLength(1)
    expectIdentity(postern, { ...identity, 'x-user-name': sent })
  })

  // T054, from the account to the upstream.
  test('stays one value when an account has line breaks in its name', async () => {
    const username = 'eve\r\nX-Role-Key: admin\r\n\r\nGET /api/v1/sys-user HTTP/1.1'
    const postern = await startPostern({
      config: dev,
      verifyPassword: async () => ({
        userId: '42',
        roleId: '7',
        roleKey: 'editor',
        roleName: 'editor',
        username,
        dataScope: '3',
      }),
    })
    const { token } = (await postLogin(postern, goodLogin(postern))).json() as { token: string }

    await postern.call('GET /api/v1/public/a', { token })

    expect(postern.upstream.requests).toHaveLength(1)
    expectIdentity(postern, { ...identity, 'x-user-name': encodeURIComponent(username) })
  })

  // T056
  test.each(['4 2', ' 42', '42 ', '4\t2'])(
    'is no identity when its number is the text %j',
    async (id) => {
      const postern = await startPostern()

      const answer = await postern.call('GET /api/v1/public/a', {
        token: tokenOf('editor', { identity: id }),
      })

      expectUnauthenticated(answer, postern.upstream)
    },
  )

  test('keeps every digit of a number above 2^53', async () => {
    const postern = await startPostern()
    const { forge, claimsOf } = await import('../support/tokens.ts')
    const payload = JSON.stringify(claimsOf('editor')).replace(
      '"identity":42',
      '"identity":9007199254740993',
    )

    await postern.call('GET /api/v1/public/a', { token: forge({ payload }) })

    expectIdentity(postern, { 'x-user-id': '9007199254740993' })
  })
})

describe('a header by which a client would choose address, path or method', () => {
  test('does not reach the upstream', async () => {
    const postern = await startPostern()
    const forged = [
      'X-Forwarded-For: 9.9.9.9', // T059
      'X-Real-IP: 9.9.9.9',
      'Forwarded: for=9.9.9.9',
      'X-Forwarded-Host: evil', // T061
      'X-Forwarded-Proto: https',
      'X-Forwarded-Prefix: /x',
      'X-Forwarded-Uri: /api/v1/public/a',
      'X-Original-URL: /api/v1/sys-user',
      'X-Rewrite-URL: /api/v1/sys-user',
      'X-HTTP-Method-Override: DELETE', // T062
      'X-Method-Override: DELETE',
      'X-HTTP-Method: DELETE',
      'X-Request-Id: forged',
      'X-Postern-Assertion: forged',
      'Proxy: http://evil.example', // CVE-2016-5385
    ]

    await postern.call('GET /api/v1/public/a', { as: 'editor', headers: forged })

    const [sent] = postern.upstream.requests
    const text = JSON.stringify(sent?.headers)
    expect(text).not.toMatch(/9\.9\.9\.9|evil|DELETE|forged|sys-user|X-Forwarded-(?:Uri|Prefix)/i)
    expect(sent?.values('x-forwarded-for')).toEqual(['127.0.0.1'])
    expect(sent?.values('x-forwarded-proto')).toEqual(['http'])
    expect(sent?.values('x-forwarded-host')).toEqual(['gateway.test'])
    expect(sent?.values('x-request-id')[0]).toMatch(/^[0-9a-f-]{36}$/)
  })

  // T062
  test('does not turn an allowed POST into another method', async () => {
    const postern = await startPostern()

    await postern.call('POST /api/v1/articles', {
      as: 'editor',
      body: '{}',
      headers: ['X-HTTP-Method-Override: DELETE', 'X_Method_Override: DELETE'],
    })

    const [sent] = postern.upstream.requests
    expect(sent?.method).toBe('POST')
    expect(JSON.stringify(sent?.headers)).not.toContain('DELETE')
  })

  test('does not change the decision', async () => {
    const postern = await startPostern()

    const answer = await postern.call('GET /api/v1/sys-user', {
      as: 'editor',
      headers: ['X-Forwarded-Uri: /api/v1/public/a', 'X-Original-URL: /api/v1/public/a'],
    })

    expectUnauthenticated(answer, postern.upstream)
  })

  // T064
  test.each([
    'Host: x/../y@z',
    'Host:',
    'Host: a, b',
    'Host: user@gateway.test',
    'Host: gateway.test/x',
  ])('a malformed Host is refused: %s', async (host) => {
    const postern = await startPostern()
    const bytes = `GET /api/v1/public/a HTTP/1.1\r\n${host}\r\nAuthorization: Bearer ${tokenOf('editor')}\r\n\r\n`

    const { answers, closed } = await sendRaw(postern.publicPort, bytes)

    expect(answers[0]?.status).toBe(400)
    expect(closed).toBe(true)
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('two Host headers are refused, and the upstream sees the configured host', async () => {
    const postern = await startPostern()
    const twice = await postern.call('GET /api/v1/public/a', {
      as: 'editor',
      headers: ['Host: other.test'],
    })
    expectRejected(twice, 400, postern.upstream)

    await postern.call('GET /api/v1/public/a', { as: 'editor' })

    const hosts = postern.upstream.requests.map((one) => one.values('host'))
    expect(hosts).toEqual([[`127.0.0.1:${postern.upstream.port}`]])
  })
})

describe('credentials', () => {
  const token = tokenOf('editor')

  test('are not passed on, and other cookies are, byte for byte', async () => {
    const postern = await startPostern()

    await postern.call('GET /api/v1/public/a?a=1&token=x&b=%20', {
      token,
      headers: [`Cookie: a=1; jwt=${token}; b="2; c=%3D`, 'Proxy-Authorization: Basic eA=='],
    })

    const [sent] = postern.upstream.requests
    expect(sent?.target).toBe('/api/v1/public/a?a=1&b=%20')
    expect(sent?.values('authorization')).toEqual([])
    expect(sent?.values('proxy-authorization')).toEqual([])
    expect(sent?.values('cookie')).toEqual(['a=1; b="2; c=%3D'])
  })

  test('are passed on where a route says so', async () => {
    const postern = await startPostern({
      routes: [{ path: '/', upstream: 'backend', forwardCredentials: true }],
    })

    await postern.call('GET /api/v1/public/a?token=x', { token, headers: ['Cookie: jwt=y'] })

    const [sent] = postern.upstream.requests
    expect(sent?.target).toBe('/api/v1/public/a?token=x')
    expect(sent?.values('authorization')).toEqual([`Bearer ${token}`])
    expect(sent?.values('cookie')).toEqual(['jwt=y'])
  })
})

describe('header names that are special to JavaScript', () => {
  test('pass like any other and change nothing', async () => {
    const postern = await startPostern()
    const headers = ['__proto__: 1', 'constructor: 2', 'hasOwnProperty: 3', 'Cookie: __proto__=4']

    await postern.call('GET /api/v1/public/a?__proto__=5', { as: 'editor', headers })
    const again = await postern.call('GET /api/v1/public/a', { as: 'editor' })

    expect(postern.upstream.requests[0]?.values('__proto__')).toEqual(['1'])
    expect(again.status).toBe(200)
    expect(Object.hasOwn(Object.prototype, '1')).toBe(false)
  })
})

describe('an upstream answer', () => {
  test('loses hop-by-hop and identity headers on the way to the client', async () => {
    const postern = await startPostern()
    postern.upstream.answerWith((socket) =>
      socket.write(
        [
          'HTTP/1.1 200 OK',
          'X-User-Id: 42',
          'X-Role-Key: editor',
          'Connection: X-Secret',
          'X-Secret: 1',
          'Keep-Alive: timeout=5',
          'Proxy-Authenticate: Basic',
          'Trailer: X-Late',
          'Set-Cookie: a=1',
          'Set-Cookie: b=2',
          'X-Kept: yes',
          'Content-Length: 2',
          '',
          'ok',
        ].join('\r\n'),
      ),
    )

    const answer = await postern.call('GET /api/v1/public/a', { as: 'editor' })

    const names = answer.headers.map(([name]) => name)
    expect(answer.body).toBe('ok')
    for (const name of ['x-user-id', 'x-role-key', 'x-secret', 'proxy-authenticate', 'trailer']) {
      expect(names).not.toContain(name)
    }
    expect(answer.header('x-kept')).toBe('yes')
    expect(names.filter((name) => name === 'set-cookie')).toHaveLength(2)
  })
})

describe('a header that makes servers act', () => {
  const acting = [
    'X-Accel-Mapping: acted',
    'X-Accel-Redirect: acted',
    'x-accel-buffering: acted',
    'X_Accel_Mapping: acted',
    'X-Sendfile: acted',
    'X-Sendfile-Type: acted',
    'X.Sendfile.Type: acted',
    'X-Envoy-Max-Retries: acted',
    'X-ENVOY-ORIGINAL-PATH: acted',
    'X_Envoy-Upstream-Rq-Timeout-Ms: acted',
    'X-Middleware-Subrequest: acted',
    'X-Original-Host: acted',
    'X_Original_Path: acted',
    'X-Rewrite-Uri: acted',
    'X_HTTP_Method_Override: acted',
  ]
  const routes = [
    { path: '/', upstream: 'backend' },
    { path: '/open', upstream: 'backend', access: 'public', reason: 'a test' },
    { path: '/free', upstream: 'backend', access: 'authenticated' },
    {
      path: '/accel',
      upstream: 'backend',
      passHeaders: ['x-accel-mapping', 'X-Envoy-Max-Retries'],
    },
  ]
  const actedOn = (postern: TestPostern) =>
    postern.upstream.requests.flatMap(({ headers }) =>
      headers.filter(([, value]) => value === 'acted').map(([name]) => name),
    )

  test.each(['/api/v1/public/a', '/open/a', '/free/a'])(
    'does not reach the upstream on %s',
    async (path) => {
      const postern = await startPostern({ routes })

      await postern.call(`GET ${path}`, {
        as: 'editor',
        headers: [...acting, 'X-Accelerator: passes', 'X-Envoy: passes'],
      })

      expect(postern.upstream.requests).toHaveLength(1)
      expect(actedOn(postern)).toEqual([])
      const [sent] = postern.upstream.requests
      expect([sent?.values('x-accelerator'), sent?.values('x-envoy')]).toEqual([
        ['passes'],
        ['passes'],
      ])
    },
  )

  test('does so on a route that passes it, in no other spelling and not if Connection lists it', async () => {
    const postern = await startPostern({ routes })

    await postern.call('GET /accel/a', { as: 'admin', headers: acting })
    await postern.call('GET /accel/a', {
      as: 'admin',
      headers: [...acting, 'Connection: close, X-Accel-Mapping'],
    })

    // HTTP/2 has no Connection header.
    const listed = speaksHttp2 ? ['x-accel-mapping'] : []
    expect(actedOn(postern).map((name) => name.toLowerCase())).toEqual([
      'x-accel-mapping',
      'x-envoy-max-retries',
      ...listed,
      'x-envoy-max-retries',
    ])
  })
})
