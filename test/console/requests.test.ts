import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RawAnswer, sendRaw } from '../support/raw-client.ts'
import { startConsole, type TestConsole } from '../support/start-console.ts'
import { until } from '../support/until.ts'

let console: TestConsole
let cookie: string
beforeAll(async () => {
  console = await startConsole({ isShared: true })
  cookie = await console.logIn()
})
afterAll(() => console.close())

describe('requests of other sites', () => {
  test('are refused, by Sec-Fetch-Site if the browser sends it, otherwise by Origin', async () => {
    const foreign = [
      ['Sec-Fetch-Site: cross-site'],
      ['Sec-Fetch-Site: same-site'],
      ['Sec-Fetch-Site: '],
      ['Sec-Fetch-Site: SAME-ORIGIN'],
      ['Origin: https://evil.example'],
      ['Origin: null'],
      ['Origin: http://127.0.0.1:1'],
      ['Origin: http://127.0.0.1.evil.example'],
      ['Sec-Fetch-Site: cross-site', 'Origin: http://127.0.0.1'],
    ]
    const password = console.passwords['admin']
    const calls = [
      ['GET session', undefined],
      ['POST logout', {}],
      ['POST login', { username: 'admin', password }],
      ['POST session/confirm', { password }],
    ] as const

    for (const headers of foreign) {
      for (const [line, body] of calls) {
        const { status, header } = await console.call(line, { cookie, headers, body })
        expect([headers, line, status, header('set-cookie')]).toEqual([
          ...[headers, line, 403, undefined],
        ])
      }
    }
    const own = { cookie, headers: ['Sec-Fetch-Site: same-origin', 'Origin: http://127.0.0.1'] }
    expect((await console.call('GET session', own)).status).toBe(200)
  })

  test('cannot read anything by giving their own name our address', async () => {
    for (const host of [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'a@b',
    ]) {
      for (const line of ['GET session', 'GET /console/', 'GET /', 'GET /nothing']) {
        expect([host, line, (await console.call(line, { cookie, host })).status]).toEqual([
          ...[host, line, 421],
        ])
      }
    }
    for (const host of ['localhost', 'LOCALHOST:8443', '127.0.0.1:1', '[::1]:9200', '10.0.0.7']) {
      expect([host, (await console.call('GET session', { cookie, host })).status]).toEqual([
        ...[host, 200],
      ])
    }
  })

  test('reach no operation with what a form can send', async () => {
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain; application/json',
      'application/json\t; charset=utf-8',
      'application/json; charset=utf-16',
      'application/jsonp',
    ]

    for (const type of types) {
      const headers = [`Content-Type: ${type}`]
      const answer = await console.call('POST probe/write', { cookie, headers, body: '{}' })
      expect([type, answer.status]).toEqual([type, 415])
    }
    const overridden = [
      'X-HTTP-Method-Override: POST',
      'X-HTTP-Method: POST',
      'X-Method-Override: POST',
    ]
    const get = await console.call('GET probe/write', { cookie, headers: overridden })
    const query = await console.call('GET probe/write?_method=POST', { cookie })
    expect([get.status, query.status]).toEqual([404, 404])
  })
})

test('every response has the security headers, and the API is not cached', async () => {
  const answers = await Promise.all([
    console.call('GET /console/'),
    console.call('GET /console/assets/app-1.js'),
    console.call('GET /'),
    console.call('GET /nothing'),
    console.call('GET session'),
    console.call('GET session', { cookie }),
    console.call('GET session', { host: 'evil.example' }),
    console.call('POST login', { body: '{' }),
  ])

  for (const answer of answers) {
    expect(answer.header('content-security-policy')).toBe(
      "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    )
    expect(answer.header('x-frame-options')).toBe('DENY')
    expect(answer.header('x-content-type-options')).toBe('nosniff')
    expect(answer.header('referrer-policy')).toBe('no-referrer')
    expect(answer.header('cross-origin-opener-policy')).toBe('same-origin')
    expect(answer.header('cross-origin-resource-policy')).toBe('same-origin')
    expect(answer.header('access-control-allow-origin')).toBeUndefined()
    expect(answer.header('server') ?? answer.header('x-powered-by')).toBeUndefined()
  }
  const caching = answers.map((answer) => answer.header('cache-control'))
  expect(caching.slice(0, 2)).toEqual(['no-cache', 'public, max-age=31536000, immutable'])
  expect(caching.slice(3)).toEqual(Array(5).fill('no-store'))
})

test('the console serves files from a closed list, whatever the path looks like', async () => {
  const names = ['secret.html', '.env', 'pages-other/secret.html', 'assets/link.html']
  const ways = [
    '/',
    '/console/',
    '/console/../',
    '/console/assets/../../',
    '/console/%2e%2e/',
    '/console/..%2f',
    '/console/%2e%2e%2f',
    '/console/%252e%252e%252f',
    '/console/..%5c',
    '/console/..\\',
    '/console/....//',
    '/console//',
    '/console/./',
    '/console/;/../',
    '/console/assets/..;/',
    '/console/%c0%ae%c0%ae/',
    '//evil.example/console/',
    '/console/assets/app-1.js/../',
    '/console/assets/app-1.js%00',
  ]

  for (const way of ways) {
    for (const name of names) {
      const answer = await console.call(`GET ${way}${name}`)
      expect([way, name, [400, 404].includes(answer.status)]).toEqual([way, name, true])
      expect(answer.body).not.toContain('SECRET')
    }
  }
  for (const line of [
    'GET *',
    'OPTIONS *',
    'GET /console/%',
    'GET /console/%zz',
    `GET /console/${'a'.repeat(5000)}`,
    'POST /console/',
    'PUT /console/assets/app-1.js',
    'OPTIONS /console/',
    'TRACE /console/',
    'GET /console/index.html',
    'GET http://evil.example/console/',
  ]) {
    const { status, body } = await console.call(line)
    expect([line, [400, 404].includes(status), body.includes('<title>')]).toEqual([
      line,
      true,
      false,
    ])
  }
  const { status, body } = await console.call('GET /console/?error=login-expired')
  expect([status, body]).toEqual([200, '<!doctype html><title>console</title>'])
})

test('the console answers HEAD as GET, without the body; where a GET begins something, not at all', async () => {
  const changing = new Set(['date', 'connection', 'keep-alive'])
  const headersOf = ({ headers }: RawAnswer) => headers.filter(([name]) => !changing.has(name))

  for (const path of ['/console/', '/console/assets/app-1.js', '/', '/nothing', 'session']) {
    const [get, head] = [
      await console.call(`GET ${path}`, { cookie }),
      await console.call(`HEAD ${path}`, { cookie }),
    ]
    expect([path, head.status, head.body]).toEqual([path, get.status, ''])
    expect([path, headersOf(head)]).toEqual([path, headersOf(get)])
  }
  const stranger = await console.call('HEAD session')
  const foreign = await console.call('HEAD session', { cookie, host: 'evil' })
  const stream = await console.call('HEAD live/traffic', { cookie })
  expect([stranger.status, foreign.status, stream.status]).toEqual([401, 421, 404])
})

test('the console bounds what a client can send, and reveals nothing of its parser', async () => {
  const login = (body: string) => console.call('POST login', { body })
  expect((await login('{')).status).toBe(400)
  expect((await login('[]')).status).toBe(400)
  expect((await login('null')).status).toBe(400)
  expect((await login('{"__proto__":{"role":"publisher"}}')).status).toBe(400)
  expect((await login('{"username":{},"password":[]}')).status).toBe(400)
  const large = `{"password":"${'x'.repeat(70_000)}"}`
  expect((await console.call('POST session/confirm', { cookie, body: large })).status).toBe(413)
  const huge = await sendRaw(
    console.port,
    'POST /console/api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000000000\r\n\r\n{',
  )
  expect(huge.answers.map(({ status }) => status)).toEqual([413])
  const head = await sendRaw(
    console.port,
    `GET / HTTP/1.1\r\nHost: x\r\nA: ${'b'.repeat(20_000)}\r\n\r\n`,
  )
  expect(head.answers.map(({ status }) => status)).toEqual([400])
  const twoHosts = await sendRaw(
    console.port,
    'GET /console/ HTTP/1.1\r\nHost: localhost\r\nhost: evil.example\r\n\r\n',
  )
  expect(twoHosts.answers.map(({ status }) => status)).toEqual([400])
  const garbage = await sendRaw(console.port, 'garbage\r\n\r\n')
  expect(garbage.bytes.toString()).toBe(
    'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
  )
  const texts = [garbage, head, huge].map(({ bytes }) => bytes.toString()).join()
  expect(texts).not.toMatch(/FST_|HPE_|fastify|node_modules/)
})

test('the console serves others while one client holds as many connections as it can', async () => {
  const sockets = Array.from({ length: 150 }, () => connect(console.port, '127.0.0.1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  for (const socket of sockets) {
    socket.on('error', () => {})
    socket.write('GET /console/ HTTP/1.1\r\nHost: localhost\r\nX-Slow: ')
  }
  expect((await console.call('GET /console/')).status).toBe(200)

  const more = Array.from({ length: 100 }, () => connect(console.port, '127.0.0.1'))
  for (const socket of more) socket.on('error', () => {})
  const closed = () => more.filter((socket) => socket.destroyed || socket.readyState !== 'open')
  await until(() => closed().length >= 50)
  for (const socket of [...sockets, ...more]) socket.destroy()
  await until(async () => (await console.call('GET /console/')).status === 200)
})
