import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import {
  ask,
  askAbout,
  asked,
  contractNames,
  contracts,
  expectedStatuses,
} from '../support/forward-auth.ts'
import { dev, logIn } from '../support/log-in.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

const open = { path: '/open', upstream: 'backend', access: 'public', reason: 'a test' }
const identityNames = ['x-user-id', 'x-role-key', 'x-data-scope', 'x-user-name', 'x-role-id']

describe('a question with a query, as Caddy asks', () => {
  test('is about what the headers say', async () => {
    const postern = await startPostern({ config: asked() })
    const { line, headers } = contracts.traefik('GET', '/api/v1/public/a?x=1')
    const elsewhere = contracts.traefik('GET', '/api/v1/sys-user?x=1')

    const allowed = await ask(postern, `${line}?x=1`, { as: 'editor', headers })
    const denied = await ask(postern, `${line}?x=1`, { as: 'editor', headers: elsewhere.headers })
    // Who calls is what the original request says, not the query behind the question.
    const nobody = await ask(postern, `${line}?token=${tokenOf('admin')}`, { headers })
    const other = await ask(postern, `${line}/x?x=1`, { as: 'editor', headers })

    expect([allowed, denied, nobody, other].map(({ status }) => status)).toEqual([
      200, 403, 401, 404,
    ])
  })
})

describe.each(contractNames)('a question in the form of %s', (contract) => {
  test('is answered 200 with who calls, when both checks pass', async () => {
    const postern = await startPostern({ config: asked() })

    const answer = await askAbout(postern, contract, 'GET /api/v1/public/a?x=1', { as: 'editor' })

    expect(answer.status).toBe(200)
    expect(identityNames.map((name) => answer.header(name))).toEqual([
      '42',
      'editor',
      '3',
      'editor-user',
      '7',
    ])
    expect(answer.header('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(answer.header('cache-control')).toBe('no-store')
    expect(answer.body).toBe('')
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('gets the real status', async () => {
    const postern = await startPostern({ config: asked() })
    const statuses: typeof expectedStatuses = []

    for (const [about, line, as] of expectedStatuses) {
      const answer = await askAbout(postern, contract, line, as === undefined ? {} : { as })
      statuses.push([about, line, as, answer.status])
      if (answer.status === 200) continue
      expect(answer.json()).toMatchObject({ code: answer.status, requestId: expect.any(String) })
      expect(identityNames.filter((name) => answer.header(name) !== undefined)).toEqual([])
      const challenge = answer.status === 401 ? 'Bearer' : undefined
      expect(answer.header('www-authenticate')).toBe(challenge)
    }

    expect(statuses).toEqual(expectedStatuses)
    expect(postern.upstream.bytes()).toBe(0)
  })

  test('never echoes what the client says about itself', async () => {
    const postern = await startPostern({ config: asked(), routes: [open] })
    const headers = ['X-User-Id: 1', 'X-Role-Key: admin', 'X-Postern-Assertion: a']

    const known = await askAbout(postern, contract, 'GET /api/v1/public/a', {
      as: 'editor',
      headers,
    })
    const unknown = await askAbout(postern, contract, 'GET /open/a', { headers })

    expect(known.headers.filter(([name]) => name === 'x-user-id')).toEqual([['x-user-id', '42']])
    expect(unknown.status).toBe(200)
    const said = unknown.headers.filter(([name]) => /^x[-_](?:user|role|data|postern)/.test(name))
    expect(said).toEqual([])
  })

  test.each([
    ...['X_User_Id', 'X_Role-Key', 'X.Role.Key', 'x-role-key-bin', 'X_Role_Key_Bin'],
    ...['Grpc-Metadata-X-Role-Key', 'X_Postern_Assertion', 'X_Forwarded_For', 'X_Original_URL'],
    ...['X_HTTP_Method_Override', 'X_Accel_Mapping', 'Content_Length', 'X-Forwarded.User'],
  ])('does not let %s reach a service that would believe it', async (name) => {
    const postern = await startPostern({ config: asked(), routes: [open] })
    const headers = [`${name}: admin`]

    const known = await askAbout(postern, contract, 'GET /api/v1/public/a', {
      as: 'editor',
      headers,
    })
    const unknown = await askAbout(postern, contract, 'GET /open/a', { headers })

    if (contract === 'envoy') {
      for (const { status, header } of [known, unknown]) {
        const removed = header('x-envoy-auth-headers-to-remove')?.toLowerCase().split(', ')
        expect([status, removed]).toEqual([200, expect.arrayContaining([name.toLowerCase()])])
      }
    } else {
      expect([known.status, unknown.status]).toEqual([400, 400])
      expect(postern.logText()).toContain(
        `"a service may read the header ${name.toLowerCase()} as one of Postern's"`,
      )
    }
  })

  test.each(['X_Other: 1', 'X-Other-Bin: 1', 'X-Request-Id-Bin: 1', 'Grpc-Metadata-X-Tenant: 1'])(
    'allows a header that no service reads as one of Postern’s: %s',
    async (header) => {
      const postern = await startPostern({ config: asked(), routes: [open] })

      const answer = await askAbout(postern, contract, 'GET /open/a', { headers: [header] })

      expect(answer.status).toBe(200)
    },
  )

  test('finds a token in the query and in the cookie of the original request', async () => {
    const postern = await startPostern({ config: asked() })
    const token = tokenOf('editor')

    const byQuery = await askAbout(postern, contract, `GET /api/v1/public/a?token=${token}`)
    const byCookie = await askAbout(postern, contract, 'GET /api/v1/public/a', {
      headers: [`Cookie: jwt=${token}`],
    })

    expect([byQuery.status, byCookie.status]).toEqual([200, 200])
    expect(byQuery.header('x-user-id')).toBe('42')
    expect(postern.logText()).not.toContain(token.slice(-24))
  })

  test('about a change by cookie from another site gets 403', async () => {
    const postern = await startPostern({ config: asked() })
    const headers = [`Cookie: jwt=${tokenOf('editor')}`, 'Sec-Fetch-Site: cross-site']

    const change = await askAbout(postern, contract, 'POST /api/v1/articles', { headers })
    const socket = await askAbout(postern, contract, 'GET /api/v1/public/a', {
      headers: [...headers, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='],
    })
    // As over HTTP/2, where the handshake has no key.
    const upgrade = await askAbout(postern, contract, 'GET /api/v1/public/a', {
      headers: [...headers, 'Upgrade: websocket'],
    })
    const look = await askAbout(postern, contract, 'GET /api/v1/public/a', { headers })

    expect([change.status, socket.status, upgrade.status, look.status]).toEqual([
      403, 403, 403, 200,
    ])
  })

  test('is refused when whoever asks is no trusted proxy', async () => {
    const postern = await startPostern({ config: asked() })
    const question = { as: 'editor', from: '127.0.0.9' }

    const answer = await askAbout(postern, contract, 'GET /api/v1/public/a', question)

    expect(answer.status).toBe(400)
    expect(answer.header('x-user-id')).toBeUndefined()
  })

  test('is logged with the request that it is about', async () => {
    const postern = await startPostern({ config: asked() })

    await askAbout(postern, contract, 'DELETE /api/v1/public/a', { as: 'editor' })

    const line = postern
      .logText()
      .split('\n')
      .find((one) => one.includes('not-permitted'))
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      contract,
      method: 'DELETE',
      path: '/api/v1/public/a',
      status: 403,
      caller: '42',
    })
  })
})

describe('the contract in the path of a question', () => {
  const other = {
    nginx: ['X-Forwarded-Method: GET', 'X-Forwarded-Uri: /api/v1/public/a'],
    traefik: ['X-Original-Method: GET', 'X-Original-URI: /api/v1/public/a'],
    envoy: [
      'X-Original-Method: GET',
      'X-Original-URI: /api/v1/public/a',
      'X-Forwarded-Method: GET',
      'X-Forwarded-Uri: /api/v1/public/a',
    ],
  }

  // A proxy replaces the headers of its own contract and hands on those of the others.
  test.each(contractNames)('%s: what the others read has no say', async (contract) => {
    const postern = await startPostern({ config: asked() })
    const headers = [
      ...other[contract],
      'X-HTTP-Method-Override: GET',
      'X-Rewrite-URL: /api/v1/public/a',
    ]

    const answer = await askAbout(postern, contract, 'GET /api/v1/sys-user', {
      as: 'editor',
      headers,
    })

    expect(answer.status).toBe(403)
  })

  const post = 'X-Original-Method: POST'
  const target = 'X-Original-URI: /api/v1/articles'

  test.each([
    ['no method', [target]],
    ['no target', [post]],
    ['two targets', [post, target, 'x-original-uri: /b']],
    ['two methods', [post, post, target]],
    ['a method in small letters', ['X-Original-Method: post', target]],
    ['a method that is none', ['X-Original-Method: POST /x', target]],
    ['a target of another form', [post, 'X-Original-URI: http://a/api/v1/articles']],
  ])('is not met with %s', async (_, headers) => {
    const postern = await startPostern({ config: asked() })

    const answer = await ask(postern, 'GET /auth/nginx', { as: 'editor', headers })

    expect(answer.status).toBe(400)
  })

  test('is none at any other path', async () => {
    const postern = await startPostern({ config: asked() })
    const paths = [
      '/',
      '/auth',
      '/auth/envoy',
      '/auth/nginx/',
      '/auth/nginx?x=1',
      '/api/v1/public/a',
    ]

    for (const path of paths) {
      const answer = await ask(postern, `GET ${path}`, { as: 'admin', headers: [post, target] })
      expect([path, answer.status]).toEqual([path, 404])
    }
  })
})

describe('Envoy, which leaves what an answer does not name', () => {
  const routes = [
    { path: '/open', access: 'public', reason: 'a test' },
    { path: '/whole', access: 'authenticated', forwardCredentials: true },
  ]

  test('joins two Destination headers, which are refused, and gets a comma as an escape', async () => {
    const postern = await startPostern({ config: asked(), rules: ['editor, /files/*, *'] })
    const move = async (destination: string) => {
      const question = { as: 'editor', headers: [`Destination: ${destination}`] }
      return (await askAbout(postern, 'envoy', 'MOVE /files/a', question)).status
    }

    expect(await move('/files/b,/admin/b')).toBe(400)
    expect(await move('/files/b%2Cc')).toBe(200)
  })

  test.each([
    ['GET /api/v1/public/a', 'X-Postern-Assertion, Authorization'],
    [
      'GET /open/a',
      'X-User-Id, X-Role-Key, X-Data-Scope, X-User-Name, X-Role-Id, X-Postern-Assertion, Authorization',
    ],
    ['GET /whole/a', 'X-Postern-Assertion'],
  ])('is told for %s to remove %s', async (line, removed) => {
    const postern = await startPostern({ config: asked(), routes })

    const answer = await askAbout(postern, 'envoy', line, { as: 'editor' })

    expect(answer.status).toBe(200)
    const asMetadata = [...identityNames, 'x-postern-assertion'].flatMap((name) => [
      `${name}-bin`,
      `grpc-metadata-${name}`,
    ])
    expect(answer.header('x-envoy-auth-headers-to-remove')).toBe(
      [removed, ...asMetadata].join(', '),
    )
  })

  test('is told to remove spellings that a service folds into one of ours', async () => {
    const postern = await startPostern({ config: asked(), routes })

    const answer = await askAbout(postern, 'envoy', 'GET /open/a', {
      headers: ['X_User_Id: 1', 'x_role-key: admin', 'X-Other_Id: 1'],
    })

    const removed = answer.header('x-envoy-auth-headers-to-remove')?.split(', ')
    expect(removed).toEqual(expect.arrayContaining(['x_user_id', 'x_role-key']))
    expect(removed).not.toContain('x-other_id')
  })

  // Names and values stand in one list: a value that reads like a name counted as that header.
  test('is told to take off a header although a value has its name', async () => {
    const postern = await startPostern({ config: asked(), routes })

    const answer = await askAbout(postern, 'envoy', 'GET /open/a', {
      headers: ['X-Request-Id: X-User-Id'],
    })

    expect(answer.status).toBe(200)
    expect(answer.header('x-request-id')).toBe('X-User-Id')
    expect(answer.header('x-envoy-auth-headers-to-remove')).toContain('X-User-Id')
  })
})

describe('the line behind the questions', () => {
  test('takes address, scheme and host from the proxy', async () => {
    const postern = await startPostern({ config: asked() })
    const headers = [`Cookie: jwt=${tokenOf('editor')}`, 'Origin: https://shop.example']

    const own = await askAbout(postern, 'traefik', 'POST /api/v1/articles', { headers })

    expect(own.status).toBe(200)
    expect(postern.logText()).toContain('"client":"9.9.9.9"')
  })

  test('has routes without an upstream, which the public port answers 404', async () => {
    const postern = await startPostern({
      config: asked(),
      routes: [{ path: '/any', access: 'authenticated' }],
    })

    const answer = await askAbout(postern, 'nginx', 'GET /any/thing', { as: 'editor' })

    expect(answer.status).toBe(200)
    expect((await postern.call('GET /any/thing', { as: 'editor' })).status).toBe(404)
  })

  test('ends the token of a logout that an upstream answers', async () => {
    const postern = await startPostern({
      config: asked({ endpoints: { logout: 'backend' }, ...dev }),
    })
    const headers = [`Authorization: Bearer ${await logIn(postern)}`]

    const before = await askAbout(postern, 'nginx', 'GET /api/v1/public/a', { headers })
    const logout = await askAbout(postern, 'nginx', 'POST /api/v1/logout', { headers })
    const after = await askAbout(postern, 'nginx', 'GET /api/v1/public/a', { headers })

    expect([before.status, logout.status, after.status]).toEqual([200, 200, 401])
  })

  test('keeps the limits of routes, and says 429', async () => {
    const routes = [{ path: '/api', upstream: 'backend', limit: { requests: 1, seconds: 60 } }]
    const postern = await startPostern({ config: asked(), routes })

    const ask = () => askAbout(postern, 'nginx', 'GET /api/v1/public/a', { as: 'editor' })
    // Windows begin at full minutes, so that one may end between two questions.
    const answers = [await ask(), await ask(), await ask()]
    const refused = answers.find(({ status }) => status === 429)

    expect(answers[0]?.status).toBe(200)
    expect(refused?.header('retry-after')).toMatch(/^\d+$/)
  })

  test('says 503, and neither yes nor log in, while there is no policy', async () => {
    const config = asked({ redis: { url: 'redis://127.0.0.1:1' }, policy: { source: 'redis' } })
    const postern = await startPostern({ config })

    const answer = await askAbout(postern, 'nginx', 'GET /api/v1/public/a', { as: 'editor' })

    expect(answer.status).toBe(503)
    expect(answer.header('x-user-id')).toBeUndefined()
  })
})

describe('the setting forwardAuth', () => {
  const problemsOf = (env: Record<string, string>) => {
    try {
      loadConfig({ file: 'config/postern.yaml', env, cwd: '.' })
      return ''
    } catch (error) {
      return String(error)
    }
  }

  test('is off without a word, and then there is no port', async () => {
    const postern = await startPostern()

    expect(postern.forwardAuthPort).toBeUndefined()
  })

  test('needs the proxies by name', () => {
    expect(problemsOf({ POSTERN_FORWARDAUTH__ENABLED: 'true' })).toContain(
      'application.trustedProxies is required when forwardAuth is enabled: list the proxies that send forward-auth requests',
    )
  })

  test('has a port of its own', () => {
    const env = {
      POSTERN_FORWARDAUTH__ENABLED: 'true',
      POSTERN_FORWARDAUTH__PORT: '9100',
    }

    expect(problemsOf(env)).toContain(
      'forwardAuth.port: 9100 is already used by ops.port; use another port',
    )
  })

  test('alone lets a route do without an upstream', async () => {
    const routes = [{ path: '/any' }]

    await expect(startPostern({ routes })).rejects.toThrow(
      'routes[0].upstream is required unless forwardAuth is enabled',
    )
  })
})
