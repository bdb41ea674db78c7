import { describe, expect, test } from 'vitest'
import { expectRejected } from '../support/outcomes.ts'
import { type RawAnswer, request, sendRaw } from '../support/raw-client.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

const app = 'https://app.example.com'
const get = 'GET /api/v1/public/a'

const start = (cors: object, more: object = {}) =>
  startPostern({ config: { cors: { origins: [app], ...cors } }, ...more })

const preflight = (postern: TestPostern, path: string, origin = app) =>
  postern.call(`OPTIONS ${path}`, {
    headers: [
      `Origin: ${origin}`,
      'Access-Control-Request-Method: DELETE',
      'Access-Control-Request-Headers: authorization,x-other',
    ],
  })

/** Every header about other origins, and what Vary says about them. */
function corsOf({ headers, header }: RawAnswer): Record<string, string> {
  const about = headers.filter(([name]) => /^(access-control-|vary$)/.test(name))
  const all = Object.fromEntries(about)
  expect(Object.keys(all)).toHaveLength(about.length)
  const { vary = '', ...found } = all
  const isMessage = header('content-language') !== undefined
  expect(/(^|, )Accept-Language$/.test(vary)).toBe(isMessage)
  const left = vary.replace(/(^|, )Accept-Language$/, '')
  return left === '' ? found : { ...found, vary: left }
}

const readable = {
  'access-control-allow-origin': app,
  'access-control-expose-headers': 'Retry-After',
  vary: 'Origin',
}
const unreadable = { vary: 'Origin' }

describe('without cors', () => {
  test('a preflight is a request like any other', async () => {
    const postern = await startPostern()

    const answer = await preflight(postern, '/api/v1/public/a')

    expect(answer.json()).toMatchObject({ code: 401 })
    expect(corsOf(answer)).toEqual({})
  })

  test('what an upstream says about other origins is relayed', async () => {
    const postern = await startPostern()
    postern.upstream.answerWith((socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nVary: Accept\r\nContent-Length: 0\r\n\r\n',
      ),
    )

    const answer = await postern.call(get, { as: 'editor', headers: [`Origin: ${app}`] })

    expect(corsOf(answer)).toEqual({ 'access-control-allow-origin': '*', vary: 'Accept' })
  })
})

describe('a preflight', () => {
  // T135
  test.each(['/api/v1/public/a', '/api/v1/sys-user', '/api/v1/login', '/api/v1/logout', '/none'])(
    'from a listed origin to %s is answered without a token, and no upstream hears of it',
    async (path) => {
      const postern = await start({})

      const answer = await preflight(postern, path)

      expect([answer.status, answer.body]).toEqual([204, ''])
      expect(corsOf(answer)).toEqual({
        'access-control-allow-origin': app,
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': 'Authorization, Content-Type',
        'access-control-max-age': '600',
        vary: 'Origin',
      })
      expect(postern.upstream.bytes()).toBe(0)
    },
  )

  test('says what is configured', async () => {
    const postern = await start({
      methods: ['GET', 'DELETE'],
      headers: ['X-Tenant'],
      exposeHeaders: ['X-Total'],
      credentials: true,
      maxAgeSeconds: 5,
    })

    expect(corsOf(await preflight(postern, '/a'))).toEqual({
      'access-control-allow-origin': app,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET, DELETE',
      'access-control-allow-headers': 'X-Tenant',
      'access-control-max-age': '5',
      vary: 'Origin',
    })
  })

  test.each([
    'https://evil.example.com',
    'https://app.example.com.evil.test',
    'https://evilapp.example.com',
    'https://app.example.com:8443',
    'http://app.example.com',
    'https://APP.example.com',
    'https://app.example.com/',
    'null',
    '*',
  ])('from %s is refused, and nothing of it said back', async (origin) => {
    const postern = await start({})

    const answer = await preflight(postern, '/api/v1/public/a', origin)

    expectRejected(answer, 403, postern.upstream)
    expect(corsOf(answer)).toEqual(unreadable)
    expect(postern.logText()).toContain('"outcome":"origin-not-allowed"')
  })

  test('with a body is answered, and the request behind it gets its own answer', async () => {
    const postern = await start({})
    const asked = [`Origin: ${app}`, 'Access-Control-Request-Method: GET', 'Content-Length: 1000']
    const authorization = `Authorization: Bearer ${tokenOf('editor')}`
    const bytes =
      request('OPTIONS /api/v1/public/a', asked, 'x'.repeat(1000)) + request(get, [authorization])

    const { answers } = await sendRaw(postern.publicPort, bytes, { expected: 2 })

    expect(answers.map(({ status }) => status)).toEqual([204, 200])
    expect(postern.upstream.requests.map(({ method }) => method)).toEqual(['GET'])
  })

  test.each([
    ['/api/v1/refresh_token', 404],
    ['/api/v1/REFRESH_TOKEN/', 404],
    ['/a/../b', 400],
  ])('does not make %s exist', async (path, status) => {
    const postern = await start({})

    expectRejected(await preflight(postern, path), status, postern.upstream)
  })

  test('is only what has all three marks of one', async () => {
    const postern = await start({})
    const asked = 'Access-Control-Request-Method: GET'
    const calls = [
      ['OPTIONS /api/v1/public/a', [`Origin: ${app}`]],
      ['OPTIONS /api/v1/public/a', [asked]],
      ['POST /api/v1/public/a', [`Origin: ${app}`, asked]],
    ] as const

    for (const [line, headers] of calls) {
      expect((await postern.call(line, { headers })).json()).toMatchObject({ code: 401 })
    }
    expect(postern.upstream.bytes()).toBe(0)
  })
})

describe('an answer to a page of a listed origin', () => {
  const headers = [`Origin: ${app}`]

  test.each([
    ['a refusal', get, {}, 200],
    ['a captcha', 'GET /api/v1/getCaptcha', {}, 200],
    ['a refused login', 'POST /api/v1/login', { body: '{}' }, 200],
    ['a wrong method', 'PUT /api/v1/login', {}, 405],
    ['a removed endpoint', 'POST /api/v1/refresh_token', {}, 404],
    ['an ambiguous path', 'GET /a/../b', {}, 400],
    ['no Host that is one', get, { host: '@' }, 400],
    ['a forwarded answer', get, { as: 'editor' }, 200],
  ])('can be read: %s', async (_, line, options, status) => {
    const postern = await start({})

    const answer = await postern.call(line, { headers, ...options })

    expect(answer.status).toBe(status)
    expect(corsOf(answer)).toEqual(readable)
    expect(JSON.parse(answer.body)).toBeTruthy()
  })

  test('can be read: a fault', async () => {
    const postern = await start({})
    postern.upstream.answerWith((socket) => socket.destroy())

    const answer = await postern.call(get, { as: 'editor', headers })

    expect([answer.status, corsOf(answer)]).toEqual([502, readable])
  })

  test('has one set of such headers, whatever the upstream says', async () => {
    const postern = await start({})
    const said = [
      'HTTP/1.1 200 OK',
      'Access-Control-Allow-Origin: *',
      'access-control-allow-credentials: true',
      'Access-Control-Expose-Headers: X-All',
      'Vary: Accept',
      'Vary: X-Tenant',
      'Set-Cookie: a=1',
      'Set-Cookie: b=2',
      'Content-Length: 2',
    ]
    postern.upstream.answerWith((socket) => socket.write(`${said.join('\r\n')}\r\n\r\nok`))

    const answer = await postern.call(get, { as: 'editor', headers })

    expect(corsOf(answer)).toEqual({ ...readable, vary: 'Accept, X-Tenant, Origin' })
    expect(answer.body).toBe('ok')
    expect(answer.headers.filter(([name]) => name === 'set-cookie')).toHaveLength(2)
    expect(answer.headers.filter(([name]) => name === 'content-length')).toHaveLength(1)
  })

  test.each([
    ['origin', 'origin'],
    ['*', '*'],
    ['Accept-Encoding,ORIGIN', 'Accept-Encoding,ORIGIN'],
  ])('keeps Vary: %s', async (vary, expected) => {
    const postern = await start({})
    postern.upstream.answerWith((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nVary: ${vary}\r\nContent-Length: 0\r\n\r\n`),
    )

    const answer = await postern.call(get, { as: 'editor', headers })

    expect(corsOf(answer)['vary']).toBe(expected)
  })
})

describe('an answer to anybody else', () => {
  test.each([
    ['without an origin', []],
    ['of another origin', ['Origin: https://evil.example.com']],
    ['of no origin', ['Origin: null']],
    ['of two origins', [`Origin: ${app}`, `Origin: ${app}`]],
  ])('%s says nothing that a browser would let it read', async (_, headers) => {
    const postern = await start({ credentials: true })
    postern.upstream.answerWith((socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 0\r\n\r\n',
      ),
    )

    expect(corsOf(await postern.call(get, { as: 'editor', headers }))).toEqual(unreadable)
  })

  test('can be read when every origin is allowed, but not by a page without one', async () => {
    const postern = await start({ origins: ['*'] })
    const from = async (origin: string) =>
      corsOf(await postern.call(get, { headers: [`Origin: ${origin}`] }))

    expect(await from('https://any.test')).toEqual({
      ...readable,
      'access-control-allow-origin': '*',
    })
    expect(await from('null')).toEqual(unreadable)
  })
})
