import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createAddressFilter } from '../../src/gateway/route/address-lists.ts'
import { askAbout, asked } from '../support/forward-auth.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { readTestConfig } from '../support/test-config.ts'
import { until } from '../support/until.ts'

const open = { access: 'public', reason: 'a test' }
const routes = (shaping: object) => [
  { path: '/', upstream: 'backend', ...open },
  { path: '/api/v1/shaped', upstream: 'backend', ...open, ...shaping },
]
const shaped = 'GET /api/v1/shaped/a'
const problemsOf = (shaping: object) => () =>
  readTestConfig({
    upstreams: { backend: { targets: ['http://127.0.0.1:1'] } },
    routes: routes(shaping),
  })
const upload = (path: string, body: string) =>
  request(`POST ${path}`, [`Content-Length: ${body.length}`], body)
const inChunks = (path: string, body: string) =>
  request(
    `POST ${path}`,
    ['Transfer-Encoding: chunked'],
    `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  )

describe('bodyBytes of a route', () => {
  const statusOf = async ({ publicPort }: TestPostern, bytes: string) =>
    (await sendRaw(publicPort, bytes)).answers[0]?.status

  test('limits bodies with a length and in chunks, on this route only', async () => {
    const postern = await startPostern({ routes: routes({ bodyBytes: 4 }) })

    expect(await statusOf(postern, upload('/api/v1/shaped', '1234'))).toBe(200)
    expect(await statusOf(postern, upload('/api/v1/shaped', '12345'))).toBe(413)
    expect(await statusOf(postern, inChunks('/api/v1/shaped', '1234'))).toBe(200)
    expect(await statusOf(postern, inChunks('/api/v1/shaped', '12345'))).toBe(413)
    expect(await statusOf(postern, upload('/api/v1/other', '12345'))).toBe(200)
  })

  test('can exceed limits.bodyBytes', async () => {
    const postern = await startPostern({
      routes: routes({ bodyBytes: 8 }),
      config: { limits: { bodyBytes: 4 } },
    })

    expect(await statusOf(postern, upload('/api/v1/shaped', '12345'))).toBe(200)
    expect(await statusOf(postern, upload('/api/v1/other', '12345'))).toBe(413)
  })
})

describe('timeouts of a route', () => {
  const start = (timeouts: object) => startPostern({ routes: routes({ timeouts }) })
  const partial = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegin'

  test('headersMs ends the wait for the response headers with 504', async () => {
    const postern = await start({ headersMs: 50 })
    postern.upstream.answerWith(() => {})

    expect((await postern.call(shaped)).status).toBe(504)
    expect(postern.logText()).toContain('upstream-timeout')
  })

  test('bodyMs cuts a response that pauses for too long', async () => {
    const postern = await start({ bodyMs: 50 })
    postern.upstream.answerWith((socket) => socket.write(partial))

    const { closed, bytes } = await sendRaw(postern.publicPort, request(shaped))

    expect(closed).toBe(true)
    expect(bytes.toString()).toMatch(/begin$/)
  })

  test('totalMs answers 504 before the response, and the target gets no second request', async () => {
    const postern = await start({ totalMs: 50 })
    postern.upstream.answerWith(() => {})

    expect((await postern.call(shaped)).status).toBe(504)
    expect(postern.upstream.requests).toHaveLength(1)
    await until(() => postern.upstream.connections() === 0)
  })

  test('totalMs cuts a running response visibly, although data keeps coming', async () => {
    const postern = await start({ totalMs: 150 })
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
    postern.upstream.answerWith((socket) => {
      socket.write(head)
      const timer = setInterval(() => socket.write('1\r\nx\r\n'), 10)
      socket.on('close', () => clearInterval(timer))
    })

    const { closed, bytes } = await sendRaw(postern.publicPort, request(shaped))

    expect(closed).toBe(true)
    // The last chunk of a complete response is missing.
    expect(bytes.toString()).not.toContain('0\r\n\r\n')
    await until(() => postern.upstream.connections() === 0)
    await until(() => postern.logText().includes('cut-by-gateway'))
  })

  test('totalMs leaves WebSockets and faster responses alone', async () => {
    const postern = await start({ totalMs: 100 })
    postern.upstream.answerWith((socket, { method }) => {
      if (method !== 'GET') return
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      )
      socket.on('data', () => socket.write('echo'))
      setTimeout(() => socket.write('late'), 400)
    })
    const socket = connect(postern.publicPort, '127.0.0.1')
    let seen = ''
    socket.on('data', (bytes) => {
      seen += bytes
    })
    socket.write(request(shaped, ['Connection: Upgrade', 'Upgrade: websocket']))

    await until(() => seen.endsWith('late'))
    socket.destroy()
    await once(socket, 'close')
  })
})

describe('addresses of a route', () => {
  const start = (addresses: object, more: object = {}) =>
    startPostern({
      routes: routes({ addresses, ...more }),
      config: { application: { trustedProxies: ['127.0.0.9'] } },
    })

  test('allow refuses other clients with 403, before any token is read', async () => {
    const postern = await start({ allow: ['127.0.0.2'] }, { access: 'permitted' })

    const refused = await postern.call(shaped)
    expect([refused.status, refused.json()]).toMatchObject([403, { code: 403 }])
    expect((await postern.call(shaped, { as: 'admin' })).status).toBe(403)
    expect((await postern.call(shaped, { as: 'admin', from: '127.0.0.2' })).status).toBe(200)
    expect((await postern.call('GET /api/v1/other')).status).toBe(200)
    expect(postern.logText()).toContain('address-not-allowed')
    expect(postern.upstream.requests).toHaveLength(2)
  })

  test('deny wins over allow', async () => {
    const postern = await start({ allow: ['127.0.0.0/8'], deny: ['127.0.0.2/31'] })

    expect((await postern.call(shaped)).status).toBe(200)
    expect((await postern.call(shaped, { from: '127.0.0.3' })).status).toBe(403)
  })

  test('count the client that a trusted proxy reports, and believe no other', async () => {
    const postern = await start({ allow: ['192.0.2.0/24'] })
    const forged = { headers: ['X-Forwarded-For: 192.0.2.7'] }

    expect((await postern.call(shaped, forged)).status).toBe(403)
    expect((await postern.call(shaped, { ...forged, from: '127.0.0.9' })).status).toBe(200)
    expect((await postern.call(shaped, { from: '127.0.0.9' })).status).toBe(403)
  })

  test('apply to forward-auth requests', async () => {
    const postern = await startPostern({
      routes: routes({ addresses: { deny: ['192.0.2.7'] } }),
      config: asked(),
    })
    const from = async (address: string) => {
      const headers = [`X-Forwarded-For: ${address}`]
      return (await askAbout(postern, 'traefik', shaped, { headers })).status
    }

    expect(await from('192.0.2.7')).toBe(403)
    expect(await from('192.0.2.8')).toBe(200)
  })

  test.each([
    ['10.1.2.3', { allow: ['10.0.0.0/8'] }, true],
    ['::ffff:10.1.2.3', { allow: ['10.0.0.0/8'] }, true],
    ['::ffff:a01:203', { deny: ['10.0.0.0/8'] }, false],
    ['10.1.2.3', { deny: ['::ffff:10.0.0.0/104'] }, false],
    ['10.1.2.3', { deny: ['::ffff:10.1.2.3'] }, false],
    ['10.1.2.3', { deny: ['::ffff:0:0/96'] }, false],
    ['10.1.2.3', { deny: ['::/0'] }, false],
    ['10.1.2.3', { allow: ['0.0.0.0/0'] }, true],
    ['2001:db8::1', { allow: ['2001:db8::/32'] }, true],
    ['2001:db8::1', { allow: ['0.0.0.0/0'] }, false],
    ['fe80::1%eth0', { deny: ['fe80::/10'] }, false],
    ['', { deny: ['10.0.0.0/8'] }, false],
    ['unknown', { deny: ['10.0.0.0/8'] }, false],
  ])('decide about %s with %j', (address, lists, accepted) => {
    expect(createAddressFilter(lists)(address)).toBe(accepted)
  })

  test('config check rejects what is not a range, and an empty group', () => {
    expect(problemsOf({ addresses: { allow: ['10.0.0.0/33'] } })).toThrow(
      'routes[1].addresses.allow[0]: "10.0.0.0/33" has an invalid prefix length',
    )
    expect(problemsOf({ addresses: { deny: ['office'] } })).toThrow(
      'routes[1].addresses.deny[0]: "office" is not an IP address or a range',
    )
    expect(problemsOf({ addresses: {} })).toThrow('routes[1].addresses needs allow or deny')
  })
})
