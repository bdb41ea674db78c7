import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openClient } from '../support/open-client.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { ok } from '../support/recording-upstream.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { claimsOf, forge, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const asEditor = `Authorization: Bearer ${tokenOf('editor')}`
const open = [
  { path: '/', upstream: 'backend' },
  { path: '/open', upstream: 'backend', access: 'public', reason: 'a test' },
]

/** A gateway whose upstream has these settings besides its target. */
async function start(
  settings: Readonly<Record<string, unknown>> = {},
  limits: Readonly<Record<string, unknown>> = {},
) {
  const behind = await startPostern()
  const postern = await startPostern({
    config: { upstreams: { backend: { targets: [behind.upstream.origin], ...settings } }, limits },
    routes: open,
  })
  return { postern, upstream: behind.upstream }
}

function post(length: number, body: string, headers: readonly string[] = []): string {
  return request('POST /api/v1/articles', [asEditor, `Content-Length: ${length}`, ...headers], body)
}

/** A client at one of the addresses of this machine that sends these bytes and stays. */
async function stay(
  { publicPort }: TestPostern,
  bytes: string,
  from = '127.0.0.9',
): Promise<Socket> {
  const socket = connect({ port: publicPort, host: '127.0.0.1', localAddress: from })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(bytes)
  return socket
}

const chunked = (body: string, size: number) =>
  (body.match(new RegExp(`.{1,${size}}`, 'g')) ?? [])
    .map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
    .join('')

describe('an upload', () => {
  test('takes nothing of the upstream until a short body is whole', async () => {
    const { postern, upstream } = await start()
    const client = await openClient(postern.publicPort, post(10, 'hello'))
    // A request that came later is answered before.
    await postern.call('GET /api/v1/public/a', { as: 'editor' })
    expect([upstream.requests.length, upstream.connections()]).toEqual([1, 1])

    client.socket.write('world')

    await client.got('{"ok":true}')
    expect(upstream.requests[1]?.body).toBe('helloworld')
  })

  test('goes on its way when its beginning has come', async () => {
    const { postern, upstream } = await start()
    const client = await openClient(postern.publicPort, post(200_000, 'a'.repeat(100_000)))

    await until(() => upstream.bytes() >= 100_000)
    client.socket.write('b'.repeat(100_000))

    await client.got('{"ok":true}')
    expect(upstream.requests[0]?.body).toBe('a'.repeat(100_000) + 'b'.repeat(100_000))
  })

  test.each([1, 7, 5000])('in chunks of %i bytes arrives as it was sent', async (size) => {
    const { postern, upstream } = await start()
    const body = Array.from({ length: 20_000 }, (_, at) => at % 10).join('')
    const head = request('POST /api/v1/articles', [asEditor, 'Transfer-Encoding: chunked'])

    const { answers } = await sendRaw(postern.publicPort, [head, chunked(body, size), '0\r\n\r\n'])

    expect(answers.map(({ status }) => status)).toEqual([200])
    expect(upstream.requests[0]?.body).toBe(body)
  })

  test('that is too long is refused while its beginning is read', async () => {
    const { postern, upstream } = await start({}, { bodyBytes: 1000 })
    const head = request('POST /api/v1/articles', [asEditor, 'Transfer-Encoding: chunked'])

    const { answers } = await sendRaw(postern.publicPort, head + chunked('a'.repeat(2000), 500))

    expect(answers.map(({ status }) => status)).toEqual([413])
    expect(upstream.bytes()).toBe(0)
  })

  test('passes piece by piece where nothing is to be buffered', async () => {
    const { postern, upstream } = await start({ requestBufferBytes: 0 })
    await openClient(postern.publicPort, post(10, 'hello'))

    await until(() => upstream.bytes() > 0)
  })

  test('ends with its client while its beginning is read', async () => {
    const { postern, upstream } = await start()
    const client = await stay(postern, post(10, 'hello'))
    await until(
      async () => (await postern.call('GET /api/v1/public/a', { as: 'editor' })).status === 200,
    )

    client.destroy()

    await until(() => postern.logText().includes('cut-by-client'))
    expect(upstream.requests.map(({ method }) => method)).not.toContain('POST')
  })
})

describe('a client that sends too slowly', () => {
  const window = { minRateWindowMs: 400, minBytesPerSecond: 500 }

  test.each([
    ['the beginning of a body', 1000, 10],
    ['the rest of a long one', 200_000, 100_000],
  ])('is answered 408: %s', async (_, length, first) => {
    const { postern, upstream } = await start({}, window)
    const client = await openClient(postern.publicPort, post(length, 'a'.repeat(first)))
    const trickle = setInterval(() => client.socket.write('a'), 100)
    onTestFinished(() => clearInterval(trickle))

    await client.got('HTTP/1.1 408 ')

    await until(() => client.closed() && upstream.connections() === 0)
    expect(client.text()).toContain('"msg":"the body came too slowly"')
    expect(postern.logText()).toContain('"outcome":"body-too-slow"')
    expect(upstream.requests).toEqual([])
  })

  test('is not one that sends in bursts', async () => {
    const { postern, upstream } = await start({}, window)
    const body = 'a'.repeat(300)
    const client = await openClient(postern.publicPort, post(10 * body.length, ''))
    for (let turn = 0; turn < 10; turn++) {
      await pause(150)
      client.socket.write(body)
    }
    await client.got('{"ok":true}')
    expect(upstream.requests).toHaveLength(1)
  })

  test('is not one whose upstream does not read', async () => {
    const body = Buffer.alloc(24 * 1_048_576)
    const server = createServer(async (socket) => {
      let bytes = 0
      socket.on('error', () => {})
      socket.pause()
      await pause(2000)
      socket.on('data', (chunk) => {
        bytes += chunk.length
        if (bytes > body.length) socket.end(ok)
      })
      socket.resume()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const postern = await startPostern({
      config: { upstreams: { backend: { targets: [target] } }, limits: window },
    })

    const client = await openClient(postern.publicPort, post(body.length, ''))
    client.socket.write(body)

    await client.got('{"ok":true}')
  })

  test('may do so where no rate is set', async () => {
    const { postern } = await start({}, { ...window, minBytesPerSecond: 0 })
    const client = await openClient(postern.publicPort, post(3, ''))
    for (const letter of 'abc') {
      await pause(500)
      client.socket.write(letter)
    }

    await client.got('{"ok":true}')
  })
})

describe('the share of one client', () => {
  const get = request('GET /open/a')
  const getAs = (token: string) =>
    request('GET /api/v1/public/a', [`Authorization: Bearer ${token}`])
  const holding = (held: Socket[]) => (socket: Socket) => void held.push(socket)

  test('leaves connections to others, by address', async () => {
    const { postern, upstream } = await start({ connections: 4, queueTimeoutMs: 60_000 })
    const held: Socket[] = []
    upstream.answerWith(holding(held))
    for (let turn = 0; turn < 8; turn++) await stay(postern, get)
    await until(() => held.length === 2)

    upstream.answerWith((socket) => socket.write(ok))
    const other = await postern.call('GET /open/a', { from: '127.0.0.10' })
    const caller = await postern.call('GET /api/v1/public/a', { as: 'editor', from: '127.0.0.9' })

    expect([other.status, caller.status, held.length]).toEqual([200, 200, 2])
    // Those that wait have their turn when the first have ended.
    for (const socket of held) socket.write(ok)
    await until(() => upstream.requests.length === 10)
  })

  test('leaves connections to others, by caller', async () => {
    const { postern, upstream } = await start({ connections: 4, queueTimeoutMs: 60_000 })
    const held: Socket[] = []
    upstream.answerWith(holding(held))
    const greedy = forge({ payload: claimsOf('editor', { identity: 7 }) })
    for (let turn = 0; turn < 8; turn++) await stay(postern, getAs(greedy))
    await until(() => held.length === 2)

    upstream.answerWith((socket) => socket.write(ok))
    const other = await postern.call('GET /api/v1/public/a', { as: 'editor', from: '127.0.0.9' })

    expect([other.status, held.length]).toEqual([200, 2])
  })

  test('is answered 503 with Retry-After when it stays used up, or when too many wait', async () => {
    const { postern, upstream } = await start({ connections: 2, queueTimeoutMs: 300 })
    upstream.answerWith(() => {})
    await stay(postern, get)
    await until(() => upstream.requests.length === 1)

    const waited = await postern.call('GET /open/a', { from: '127.0.0.9' })
    const crowd = Array.from({ length: 6 }, () =>
      postern.call('GET /open/a', { from: '127.0.0.9' }),
    )
    const statuses = (await Promise.all(crowd)).map(({ status }) => status)

    expect([waited.status, waited.header('Retry-After')]).toEqual([503, '1'])
    expect(statuses).toEqual(Array(6).fill(503))
    expect(postern.logText().match(/"outcome":"upstream-share"/g)).toHaveLength(7)
    expect(upstream.requests).toHaveLength(1)
  })

  test('is free again when clients leave, whether they wait or not', async () => {
    const { postern, upstream } = await start({ connections: 2, queueTimeoutMs: 60_000 })
    upstream.answerWith(() => {})
    const first = await stay(postern, get)
    await until(() => upstream.requests.length === 1)
    const second = await stay(postern, get)
    second.destroy()
    await until(() => postern.logText().includes('cut-by-client'))
    upstream.answerWith((socket) => socket.write(ok))
    first.destroy()

    const { status } = await postern.call('GET /open/a', { from: '127.0.0.9' })

    expect([status, upstream.requests.length]).toEqual([200, 2])
  })

  test('is all of the connections where maxShare is 100', async () => {
    const { postern, upstream } = await start({ connections: 4, maxShare: 100 })
    upstream.answerWith(() => {})
    for (let turn = 0; turn < 4; turn++) await stay(postern, get)

    await until(() => upstream.requests.length === 4)
  })

  test('is that of the client whom a trusted proxy names', async () => {
    const behind = await startPostern()
    behind.upstream.answerWith(() => {})
    const postern = await startPostern({
      config: {
        application: { trustedProxies: ['127.0.0.9'] },
        upstreams: { backend: { targets: [behind.upstream.origin], connections: 4 } },
      },
      routes: open,
    })
    for (let turn = 0; turn < 4; turn++) {
      await stay(postern, request('GET /open/a', [`X-Forwarded-For: 10.0.0.${turn % 2}`]))
    }

    await until(() => behind.upstream.requests.length === 4)
  })

  test('yields: a response that is not read is cut off when others wait for its connection', async () => {
    const { postern, upstream } = await start(
      { connections: 2, maxShare: 100, queueTimeoutMs: 60_000 },
      { busyStallTimeoutMs: 300 },
    )
    const large = Buffer.alloc(32 * 1_048_576)
    upstream.answerWith((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${large.length}\r\n\r\n`)
      socket.write(large)
    })
    for (let turn = 0; turn < 2; turn++) (await stay(postern, get)).pause()
    await until(() => upstream.requests.length === 2)
    await pause(1000)
    expect(postern.logText()).not.toContain('cut-by-gateway')

    upstream.answerWith((socket) => socket.write(ok))
    const other = await postern.call('GET /open/a', { from: '127.0.0.10' })

    expect(other.status).toBe(200)
    expect(postern.logText().match(/cut-by-gateway/g)).toHaveLength(1)
  })

  test('does not grow with responses that the client does not read', async () => {
    const { postern, upstream } = await start({ connections: 4, queueTimeoutMs: 300 })
    const large = Buffer.alloc(32 * 1_048_576)
    upstream.answerWith((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${large.length}\r\n\r\n`)
      socket.write(large)
    })
    const clients = await Promise.all(Array.from({ length: 6 }, () => stay(postern, get)))
    for (const client of clients) client.pause()
    await until(() => (postern.logText().match(/upstream-share/g) ?? []).length === 4)

    upstream.answerWith((socket) => socket.write(ok))
    const other = await postern.call('GET /open/a', { from: '127.0.0.10' })

    expect([other.status, upstream.requests.length]).toEqual([200, 3])
  })
})
