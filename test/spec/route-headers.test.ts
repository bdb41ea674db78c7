import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { askAbout, asked } from '../support/forward-auth.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { startPostern } from '../support/start-postern.ts'
import { readTestConfig } from '../support/test-config.ts'
import { tokenOf } from '../support/tokens.ts'

const open = { access: 'public', reason: 'a test' }
const routes = (shaping: object) => [
  { path: '/', upstream: 'backend', ...open },
  { path: '/api/v1/shaped', upstream: 'backend', ...open, ...shaping },
]
const fixed = (respond: object, more: object = {}) => [
  { path: '/', upstream: 'backend', ...open },
  { path: '/api/v1/fixed', respond, ...open, ...more },
]
const shaped = 'GET /api/v1/shaped/a'
const read = (list: readonly object[], more: object = {}) =>
  readTestConfig({
    upstreams: { backend: { targets: ['http://127.0.0.1:1'] } },
    routes: list,
    ...more,
  })
const answering = (...headers: string[]) =>
  ['HTTP/1.1 200 OK', 'Content-Length: 2', ...headers, '', 'ok'].join('\r\n')

describe('requestHeaders of a route', () => {
  test('set replaces, add keeps and remove removes headers of the client', async () => {
    const postern = await startPostern({
      routes: routes({
        requestHeaders: {
          set: { 'X-Key': 'ours' },
          add: { 'X-Tag': 'added' },
          remove: ['Accept-Language'],
        },
      }),
    })
    const headers = ['x-key: forged', 'X_Key: forged', 'X-Tag: sent', 'Accept-Language: de']

    await postern.call(shaped, { headers })
    await postern.call('GET /api/v1/other', { headers })

    const [changed, other] = postern.upstream.requests
    expect(changed?.values('x-key')).toEqual(['ours'])
    expect(changed?.values('x_key')).toEqual([])
    expect(changed?.values('x-tag')).toEqual(['sent', 'added'])
    expect(changed?.values('accept-language')).toEqual([])
    expect(other?.values('x-key')).toEqual(['forged'])
    expect(other?.values('x-tag')).toEqual(['sent'])
  })

  test('leave the identity of the caller as it is, and clients cannot drop a set header', async () => {
    const postern = await startPostern({
      routes: routes({ access: 'authenticated', requestHeaders: { set: { 'X-Key': 'ours' } } }),
    })

    await postern.call(shaped, {
      as: 'editor',
      headers: ['Connection: X-Key, X-Role-Key', 'X-Role-Key: admin', 'X_Role_Key: admin'],
    })

    const [sent] = postern.upstream.requests
    expect(sent?.values('x-role-key')).toEqual(['editor'])
    expect(sent?.values('x_role_key')).toEqual([])
    expect(sent?.values('x-key')).toEqual(['ours'])
  })

  test.each([
    ...['X-User-Id', 'x_user_id', 'X-Role-Key', 'X-Request-Id', 'X-Postern-Assertion', 'Host'],
    ...['X-Role-Key-Bin', 'x_user_id_bin', 'Grpc-Metadata-X-Role-Key'],
    ...['Authorization', 'Cookie', 'Connection', 'Transfer-Encoding', 'Content-Length', 'TE'],
    ...['X-Forwarded-For', 'X_Forwarded_Host', 'Forwarded', 'X-Real-IP', 'X-Original-URL', 'Via'],
    ...['X-HTTP-Method-Override', 'X-Accel-Redirect', 'X-Envoy-Max-Retries', 'Upgrade', 'Expect'],
    ...['Proxy', 'Proxy-Authorization', 'traceparent', 'Destination', 'Sec-WebSocket-Key'],
  ])('cannot set, add or remove %s', (name) => {
    for (const edits of [{ set: { [name]: 'x' } }, { add: { [name]: 'x' } }, { remove: [name] }]) {
      expect(() => read(routes({ requestHeaders: edits }))).toThrow(
        `"${name}" is a reserved header, which routes cannot change; remove it`,
      )
    }
  })

  test('cannot touch an identity header of another name', () => {
    const list = routes({ requestHeaders: { set: { 'X-Who': '1' } } })

    expect(() => read(list, { headers: { userId: 'X-Who' } })).toThrow('is a reserved header')
    expect(() => read(list, { identity: { assertion: { header: 'x-who' } } })).toThrow('reserved')
  })

  test.each(['a\r\nX-User-Id: 1', 'a\nb', 'a\0', ' a', 'ü', ''])('reject the value %j', (value) => {
    expect(() => read(routes({ requestHeaders: { set: { 'X-Key': value } } }))).toThrow(
      'routes[1].requestHeaders.set.X-Key',
    )
  })

  test('reject a header that is named twice', () => {
    const edits = { set: { 'X-Key': 'a' }, remove: ['x_key'] }

    expect(() => read(routes({ requestHeaders: edits }))).toThrow(
      'routes[1].requestHeaders.remove[0]: "x_key" is the same header as routes[1].requestHeaders.set.X-Key; keep one',
    )
  })
})

describe('responseHeaders of a route', () => {
  test('set, add and remove headers of the upstream', async () => {
    const postern = await startPostern({
      routes: routes({
        responseHeaders: {
          set: { 'Cache-Control': 'public, max-age=60' },
          add: { Link: '</a>' },
          remove: ['Server', 'X-Powered-By'],
        },
      }),
    })
    postern.upstream.answerWith((socket) =>
      socket.write(
        answering('Server: s/1', 'x-powered-by: p', 'Cache-Control: private', 'Link: </b>'),
      ),
    )

    const { headers } = await postern.call(shaped)
    const other = await postern.call('GET /api/v1/other')

    const values = (name: string) =>
      headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value)
    expect([values('server'), values('x-powered-by')]).toEqual([[], []])
    expect(values('cache-control')).toEqual(['public, max-age=60'])
    expect(values('link')).toEqual(['</b>', '</a>'])
    expect(other.header('server')).toBe('s/1')
  })

  test('a token in the query still forbids to store the response', async () => {
    const postern = await startPostern({
      routes: routes({
        access: 'authenticated',
        responseHeaders: { set: { 'Cache-Control': 'public' }, remove: ['Referrer_Policy'] },
        securityHeaders: { referrerPolicy: 'unsafe-url' },
      }),
    })

    const answer = await postern.call(`${shaped}?token=${tokenOf('editor')}`)

    expect(answer.header('cache-control')).toBe('no-store')
    expect(answer.header('referrer-policy')).toBe('no-referrer')
  })

  test('refusals do not have them', async () => {
    const postern = await startPostern({
      routes: routes({
        access: 'authenticated',
        responseHeaders: { set: { 'Cache-Control': 'public' } },
      }),
    })

    expect((await postern.call(shaped)).header('cache-control')).toBe('no-store')
  })

  test.each(['Set-Cookie', 'Content-Length', 'Transfer-Encoding', 'X-User-Id', 'Connection'])(
    'cannot touch %s',
    (name) => {
      expect(() => read(routes({ responseHeaders: { remove: [name] } }))).toThrow('is a reserved')
    },
  )

  test('leave CORS to cors', () => {
    const list = routes({ responseHeaders: { set: { 'Access-Control-Allow-Origin': '*' } } })

    expect(() => read(list)).not.toThrow()
    expect(() => read(list, { cors: { origins: ['https://a.example'] } })).toThrow(
      'belongs to cors, which sets it; remove it here',
    )
  })
})

describe('securityHeaders of a route', () => {
  const start = (securityHeaders: object, more: object = {}) =>
    startPostern({
      routes: routes({ securityHeaders, ...more }),
      config: { application: { trustedProxies: ['127.0.0.9'] } },
    })

  test('{} sends the defaults, and HSTS over HTTPS only', async () => {
    const postern = await start({})

    const plain = await postern.call(shaped)
    const secure = await postern.call(shaped, {
      from: '127.0.0.9',
      headers: ['X-Forwarded-Proto: https'],
    })

    expect(plain.header('x-frame-options')).toBe('SAMEORIGIN')
    expect(plain.header('x-content-type-options')).toBe('nosniff')
    expect(plain.header('referrer-policy')).toBe('strict-origin-when-cross-origin')
    expect(plain.header('content-security-policy')).toBeUndefined()
    expect(plain.header('strict-transport-security')).toBeUndefined()
    expect(secure.header('strict-transport-security')).toBe('max-age=31536000')
    expect((await postern.call('GET /api/v1/other')).header('x-frame-options')).toBeUndefined()
  })

  test('the upstream’s own value wins, and off leaves a header out', async () => {
    const postern = await start({
      frameOptions: 'off',
      contentSecurityPolicy: "default-src 'self'",
    })
    postern.upstream.answerWith((socket) =>
      socket.write(answering('content-security-policy: sandbox')),
    )

    const { headers } = await postern.call(shaped)

    const names = headers.map(([name]) => name.toLowerCase())
    expect(names).not.toContain('x-frame-options')
    expect(headers.filter(([name]) => /^content-security/i.test(name))).toEqual([
      ['content-security-policy', 'sandbox'],
    ])
  })

  test('streamed responses, refusals and faults have them', async () => {
    const postern = await start({}, { access: 'authenticated' })
    const frame = async (as?: string) =>
      (await postern.call(shaped, as === undefined ? {} : { as })).header('x-frame-options')

    postern.upstream.answerWith((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n'),
    )
    expect(await frame('editor')).toBe('SAMEORIGIN')
    expect(await frame()).toBe('SAMEORIGIN')
    postern.upstream.answerWith((socket) => socket.destroy())
    expect(await frame('editor')).toBe('SAMEORIGIN')
  })
})

describe('respond of a route', () => {
  test('answers with status, headers and text, and no upstream gets the request', async () => {
    const postern = await startPostern({
      routes: fixed(
        { status: 503, headers: { 'Retry-After': '120' }, body: 'Back at ten. 谢谢' },
        { responseHeaders: { set: { 'X-Tag': 'a' } }, securityHeaders: {} },
      ),
    })

    const answer = await postern.call('POST /api/v1/fixed/a', { body: '12345' })

    expect(answer.status).toBe(503)
    expect(Buffer.from(answer.body, 'latin1').toString()).toBe('Back at ten. 谢谢')
    expect(answer.header('content-type')).toBe('text/plain; charset=utf-8')
    expect(answer.header('retry-after')).toBe('120')
    expect(answer.header('x-tag')).toBe('a')
    expect(answer.header('x-frame-options')).toBe('SAMEORIGIN')
    expect(postern.upstream.requests).toHaveLength(0)
  })

  test('HEAD gets the headers without the body, and the connection stays usable', async () => {
    const postern = await startPostern({ routes: fixed({ body: 'User-agent: *' }) })
    const bytes =
      request('HEAD /api/v1/fixed') + request('GET /api/v1/other', ['Connection: close'])

    const text = (await sendRaw(postern.publicPort, bytes, { expected: 9 })).bytes.toString()

    expect(text).toContain('Content-Length: 13')
    expect(text).not.toContain('User-agent')
    expect(text).toContain('{"ok":true}')
  })

  test('a body that is still arriving is not read as the next request', async () => {
    const postern = await startPostern({ routes: fixed({ body: 'x' }) })
    const smuggled = request('GET /api/v1/other')
    const head = request('POST /api/v1/fixed', [`Content-Length: ${smuggled.length + 9}`])

    const { closed } = await sendRaw(postern.publicPort, head + smuggled, { expected: 2 })

    expect(closed).toBe(true)
    expect(postern.upstream.requests).toHaveLength(0)
  })

  test('obeys access like any route', async () => {
    const postern = await startPostern({
      routes: fixed({ body: 'secret' }, { access: 'permitted' }),
      rules: ['editor, /api/v1/fixed, GET'],
    })
    const bodyOf = async (as?: string, line = 'GET /api/v1/fixed') =>
      (await postern.call(line, as === undefined ? {} : { as })).body

    expect(await bodyOf('editor')).toBe('secret')
    expect(await bodyOf()).toContain('"code":401')
    expect(await bodyOf('editor', 'GET /api/v1/fixed/a')).toContain('"code":401')
  })

  test('redirects, with the path and the query, never with our token', async () => {
    const redirect = 'https://new.example.com{path}'
    const postern = await startPostern({
      routes: [
        ...fixed({ redirect, status: 308 }, { replacePrefix: '/v2' }),
        { path: '/old', respond: { redirect: '/new' }, ...open },
      ],
    })
    const locationOf = async (line: string) => {
      const { status, header } = await postern.call(line)
      return [status, header('location')]
    }

    expect(await locationOf('GET /api/v1/fixed/a?b=c&token=x.y.z')).toEqual([
      308,
      'https://new.example.com/v2/a?b=c',
    ])
    expect(await locationOf('GET /old/anything?x=1')).toEqual([302, '/new'])
    expect((await locationOf('GET /api/v1/fixed//evil.example'))[0]).toBe(400)
    expect((await locationOf('GET /api/v1/fixed/%0d%0aSet-Cookie:a'))[0]).toBe(400)
  })

  test('serves a file by its type, and rejects one that is missing', async () => {
    const first = await startPostern()
    const file = join(first.policyDirectory, 'robots.txt')
    await writeFile(file, 'User-agent: *\nDisallow: /\n')
    const postern = await startPostern({ routes: fixed({ file }) })

    const answer = await postern.call('GET /api/v1/fixed')

    expect(answer.body).toBe('User-agent: *\nDisallow: /\n')
    expect(answer.header('content-type')).toBe('text/plain; charset=utf-8')
    await expect(startPostern({ routes: fixed({ file: `${file}.no` }) })).rejects.toThrow(
      'cannot be read as response of a route (ENOENT)',
    )
  })

  test('forward-auth refuses the path, which the proxy must route to Postern', async () => {
    const postern = await startPostern({ routes: fixed({ status: 503 }), config: asked() })

    expect((await askAbout(postern, 'traefik', 'GET /api/v1/fixed')).status).toBe(404)
    expect((await askAbout(postern, 'traefik', 'GET /api/v1/other')).status).toBe(200)
  })

  test.each([
    [{ body: 'a', file: 'b' }, 'routes[1].respond.file cannot be combined with body'],
    [{ redirect: '/a', body: 'b' }, 'routes[1].respond.redirect cannot be combined'],
    [{ redirect: '/a', status: 200 }, 'routes[1].respond.status: 200 is not a redirect'],
    [{ status: 204, body: 'a' }, 'routes[1].respond.status: 204 has no body'],
    [{ redirect: 'https://a.example/{path}' }, 'has / before {path}, which starts with /'],
    [{ redirect: '/a?next={path}' }, 'put it at the end, without ? or # before it'],
    [{ redirect: '/{user}' }, 'has an unknown placeholder; only {path} is supported'],
    [{ redirect: 'javascript:alert(1)' }, 'routes[1].respond.redirect'],
    [{ redirect: 'https://a@b.example/' }, 'routes[1].respond.redirect'],
    [{ headers: { 'Set-Cookie': 'a=b' } }, '"Set-Cookie" is a reserved header'],
  ])('config check rejects %j', (respond, problem) => {
    expect(() => read(fixed(respond))).toThrow(problem)
  })

  test('config check rejects settings for an upstream beside it', () => {
    expect(() => read(fixed({ body: 'a' }, { upstream: 'backend' }))).toThrow(
      'routes[1].upstream has no effect with respond; remove one of the two',
    )
    expect(() => read(fixed({ body: 'a' }, { timeouts: { totalMs: 1 } }))).toThrow(
      'routes[1].timeouts has no effect with respond',
    )
  })
})
