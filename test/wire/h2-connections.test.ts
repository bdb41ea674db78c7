import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { FrameType, Setting } from '../../src/h2/frames.ts'
import {
  type FrameConnection,
  type FrameRequest,
  startFrameServer,
} from '../support/frame-server.ts'
import { answerPath, handMadeUpload, startH2Pool } from '../support/h2-pool.ts'
import { until } from '../support/until.ts'
import { send } from '../support/wire-call.ts'

const http2 = { streams: 100, pingMs: 0, maxAgeMs: 0 }
const isClosed = ({ socket }: FrameConnection) => socket.destroyed || socket.readableEnded
const silent = () => {}

describe('a timeout', () => {
  test('ends a connection whose server sends no settings, with every request that waits for it', async () => {
    const server = await startFrameServer(silent, { greets: false })
    const pool = startH2Pool(server.origin, { connectTimeoutMs: 100 })

    const calls = await Promise.all([send(pool).over, send(pool).over])

    for (const call of calls) {
      expect(call.error()).toMatchObject({ code: 'connect-timeout', sent: false })
    }
  })

  test('of a response ends its own stream; the connection answers a PING and is kept', async () => {
    const server = await startFrameServer((request) => {
      if (request.fields[':path'] !== '/slow') answerPath(request)
    })
    const pool = startH2Pool(server.origin, { headersTimeoutMs: 100 })

    const slow = await send(pool, { path: '/slow' }).over
    const [connection] = server.connections
    await until(() => connection?.count(FrameType.ping) === 1)
    const next = await send(pool, { path: '/next' }).over

    expect(slow.error()).toMatchObject({ code: 'response-timeout', sent: true, heard: false })
    await until(() => connection?.count(FrameType.rstStream) === 1)
    expect(next.body()).toBe('/next')
    expect(server.connections).toHaveLength(1)
  })

  test('of a body counts the pauses; what arrives in time restarts it', async () => {
    const server = await startFrameServer(({ connection, id }) => {
      connection.headers(id, [':status', '200'])
    })
    const pool = startH2Pool(server.origin, { bodyTimeoutMs: 1000 })
    const call = send(pool)
    await until(() => call.events.includes('head'))
    for (let at = 0; at < 4; at++) {
      await pause(400)
      server.connections[0]?.data(1, 'x')
    }

    await call.over

    expect(call.body()).toBe('xxxx')
    expect(call.error()).toMatchObject({ code: 'body-timeout', heard: true })
  })

  test('does not count while the client sends, or does not read', async () => {
    const server = await startFrameServer(({ connection, id, isLast }) => {
      if (!isLast) return
      connection.headers(id, [':status', '200'])
      connection.data(id, 'x')
    })
    const pool = startH2Pool(server.origin, { headersTimeoutMs: 100, bodyTimeoutMs: 100 })
    const body = handMadeUpload()

    const sending = send(pool, { method: 'POST', upload: body.given })
    const unread = send(pool, {}, { data: () => false })
    await until(() => body.starts.length === 1 && unread.events.includes('data'))
    await pause(500)

    expect([sending.error(), unread.error()]).toEqual([undefined, undefined])
    body.end()
    pool.resume(unread.call)
    expect((await sending.over).error()).toMatchObject({ code: 'response-timeout' })
    expect((await unread.over).error()).toMatchObject({ code: 'body-timeout' })
  })

  test('of a request replaces that of the pool', async () => {
    const server = await startFrameServer(silent)
    const pool = startH2Pool(server.origin, { connectTimeoutMs: 1000 })

    const call = await send(pool, { timeouts: { headersMs: 100 } }).over

    expect(call.error()).toMatchObject({ code: 'response-timeout' })
  })

  test('ends an upload that the server does not read', async () => {
    const server = await startFrameServer(silent, { reads: false })
    const pool = startH2Pool(server.origin, { headersTimeoutMs: 100, bodyTimeoutMs: 200 })
    const body = handMadeUpload()
    const call = send(pool, { method: 'POST', upload: body.given })
    await until(() => body.starts.length === 1)

    expect(body.data('x'.repeat(200_000))).toBe(false)

    expect((await call.over).error()).toMatchObject({ code: 'response-timeout', sent: true })
  })
})

describe('a PING', () => {
  test('that is not answered ends the connection; its requests may be retried', async () => {
    const server = await startFrameServer(silent, { answersPings: false })
    const pool = startH2Pool(server.origin, {
      connectTimeoutMs: 500,
      http2: { ...http2, pingMs: 100, pingTimeoutMs: 100 },
    })

    const call = await send(pool).over

    expect(call.error()).toMatchObject({
      code: 'closed',
      sent: true,
      heard: false,
      message: 'no answer to an HTTP/2 PING',
    })
    await until(() => server.connections.every(isClosed))
    await until(() => pool.size() === 0)
  })

  test('keeps a silent connection as long as it is answered', async () => {
    const server = await startFrameServer(silent)
    const pool = startH2Pool(server.origin, {
      connectTimeoutMs: 500,
      http2: { ...http2, pingMs: 100, pingTimeoutMs: 200 },
    })
    const call = send(pool)

    await until(() => (server.connections[0]?.count(FrameType.ping) ?? 0) > 3)

    expect(call.events).toEqual(['sent'])
    answerPath(server.requests[0] as FrameRequest)
    expect((await call.over).body()).toBe('/')
  })

  test('comes early while a request waits for its response, so that a vanished host is noticed', async () => {
    const server = await startFrameServer(silent, { answersPings: false })
    const pool = startH2Pool(server.origin, {
      connectTimeoutMs: 500,
      http2: { ...http2, pingMs: 300_000, earlyPingMs: 100, pingTimeoutMs: 100 },
    })

    const call = await send(pool).over

    expect(call.error()).toMatchObject({ code: 'closed', message: 'no answer to an HTTP/2 PING' })
    await until(() => pool.size() === 0)
  })

  test('comes early once for each silence: a slow server of gRPC counts them', async () => {
    const server = await startFrameServer(silent)
    const pool = startH2Pool(server.origin, {
      connectTimeoutMs: 500,
      http2: { ...http2, pingMs: 300_000, earlyPingMs: 100, pingTimeoutMs: 5000 },
    })
    const pings = () => server.connections[0]?.count(FrameType.ping)
    const [first, second] = [send(pool), send(pool, { path: '/second' })]
    await until(() => pings() === 1)
    await pause(500)
    expect(pings()).toBe(1)

    answerPath(server.requests[0] as FrameRequest)
    await until(() => pings() === 2)
    await pause(500)
    expect(pings()).toBe(2)
    answerPath(server.requests[1] as FrameRequest)

    expect([(await first.over).body(), (await second.over).body()]).toEqual(['/', '/second'])
    expect(server.connections).toHaveLength(1)
  })

  test('does not come early for a body that is silent', async () => {
    const server = await startFrameServer(({ connection, id }) => {
      connection.headers(id, [':status', '200'])
    })
    const pool = startH2Pool(server.origin, {
      connectTimeoutMs: 500,
      http2: { ...http2, pingMs: 300_000, earlyPingMs: 100 },
    })
    const call = send(pool)
    await until(() => call.events.includes('head'))

    await pause(500)

    expect(server.connections[0]?.count(FrameType.ping)).toBe(0)
  })

  test('is not sent on an idle connection', async () => {
    const server = await startFrameServer(answerPath)
    const pool = startH2Pool(server.origin, {
      connectTimeoutMs: 500,
      http2: { ...http2, pingMs: 100, pingTimeoutMs: 200 },
    })
    await send(pool).over

    await pause(600)

    expect(server.connections[0]?.count(FrameType.ping)).toBe(0)
    expect(pool.size()).toBe(1)
  })
})

describe('a connection is replaced', () => {
  test('when it is old, after its last request', async () => {
    const server = await startFrameServer((request) => {
      if (request.fields[':path'] !== '/long') answerPath(request)
    })
    const pool = startH2Pool(server.origin, {
      connectTimeoutMs: 500,
      http2: { ...http2, maxAgeMs: 200 },
    })
    const long = send(pool, { path: '/long' })
    await until(() => server.connections[0]?.count(FrameType.goaway) === 1)

    expect((await send(pool, { path: '/new' }).over).body()).toBe('/new')
    answerPath(server.requests[0] as FrameRequest)

    expect((await long.over).body()).toBe('/long')
    expect(server.requests[1]?.connection).toBe(server.connections[1])
    await until(() => isClosed(server.connections[0] as FrameConnection))
  })

  test('when it was idle for too long', async () => {
    const server = await startFrameServer(answerPath)
    const pool = startH2Pool(server.origin, { connectTimeoutMs: 500, idleTimeoutMs: 200 })
    await send(pool).over

    await until(() => pool.size() === 0)

    expect(server.connections[0]?.count(FrameType.goaway)).toBe(1)
    expect((await send(pool, { path: '/2' }).over).body()).toBe('/2')
  })

  test('before a server takes our resets for an attack', async () => {
    const server = await startFrameServer((request) => {
      if (request.fields[':path'] === '/served') answerPath(request)
    })
    const pool = startH2Pool(server.origin)
    for (let at = 1; at <= 100; at++) {
      const { call } = send(pool)
      await until(() => server.requests.length === at)
      pool.abort(call)
    }

    expect((await send(pool, { path: '/served' }).over).body()).toBe('/served')

    expect(server.connections).toHaveLength(2)
    expect(server.connections[0]?.count(FrameType.rstStream)).toBe(100)
  })

  test('when the server refuses streams that it had allowed', async () => {
    const server = await startFrameServer((request) => {
      const { connection, id } = request
      if (request.fields[':path'] === '/held') return
      if (connection === server.connections[0]) connection.reset(id, 0x7)
      else answerPath(request)
    })
    const pool = startH2Pool(server.origin)
    const held = send(pool, { path: '/held' })
    await until(() => server.requests.length === 1)

    const refused = await send(pool, { method: 'POST' }).over
    const again = await send(pool, { method: 'POST', path: '/again' }, {}, true).over

    expect(refused.error()).toMatchObject({ sent: false, reused: true })
    expect(again.body()).toBe('/again')
    expect(server.connections).toHaveLength(2)
    answerPath(server.requests[0] as FrameRequest)
    expect((await held.over).body()).toBe('/held')
  })
})

describe('a pool', () => {
  test('that drains closes idle connections now and the others after their last request', async () => {
    const server = await startFrameServer(silent)
    const pool = startH2Pool(server.origin)
    const call = send(pool)
    await until(() => server.requests.length === 1)

    pool.drain()
    const second = send(pool, { path: '/2' })
    await until(() => server.requests.length === 2)
    for (const request of server.requests) answerPath(request)

    expect([(await call.over).body(), (await second.over).body()]).toEqual(['/', '/2'])
    await until(() => pool.size() === 0)
    expect(server.connections).toHaveLength(1)
    const { over } = send(pool, { path: '/3' })
    await until(() => server.requests.length === 3)
    answerPath(server.requests[2] as FrameRequest)
    expect((await over).body()).toBe('/3')
    await until(() => pool.size() === 0)
  })

  test('that is destroyed fails what is in progress and what comes later', async () => {
    const server = await startFrameServer(silent)
    const pool = startH2Pool(server.origin, { connections: 1 })
    const [running, waiting] = [send(pool), send(pool)]
    await until(() => server.requests.length === 1)

    pool.destroy()

    expect((await running.over).error()).toMatchObject({ code: 'closed', sent: true })
    expect((await waiting.over).error()).toMatchObject({ code: 'destroyed', sent: false })
    expect((await send(pool).over).error()).toMatchObject({ code: 'destroyed' })
    await until(() => pool.size() === 0)
  })

  test('reports whether a connection could be opened, once for each, and uses it', async () => {
    const server = await startFrameServer(answerPath)
    const outcomes: (string | undefined)[] = []
    const onConnect = (error: Error | undefined) => outcomes.push(error && 'failed') > 0
    const pool = startH2Pool(server.origin, { onConnect })
    expect(pool.hasFree()).toBe(false)
    await new Promise<void>((settled) => pool.connect(settled))

    expect([outcomes, pool.hasFree()]).toEqual([[undefined], true])
    await send(pool).over
    expect(server.connections).toHaveLength(1)
    await server.close()
    await until(() => pool.size() === 0)
    await new Promise<void>((settled) => pool.connect(settled))
    const calls = Array.from({ length: 20 }, () => send(pool).over)
    await Promise.all(calls)
    expect([outcomes, pool.hasFree()]).toEqual([[undefined, 'failed', 'failed'], false])
  })

  test('does not open connections without end to a server that allows no streams', async () => {
    const server = await startFrameServer(silent, {
      settings: [[Setting.maxConcurrentStreams, 0]],
    })
    const pool = startH2Pool(server.origin)

    const call = await send(pool).over

    expect(call.error()).toMatchObject({ sent: false, message: 'the upstream allows no streams' })
    await until(() => pool.size() === 0)
    expect(server.connections).toHaveLength(1)
  })

  test('leaves waiting requests to the next connection when the server sends GOAWAY to each', async () => {
    const server = await startFrameServer((request) => {
      const { connection, id } = request
      // As a server that restarts: it serves what it has, and takes no more.
      connection.goaway(id)
      answerPath(request)
    })
    const pool = startH2Pool(server.origin, { connections: 1 })

    const calls = await Promise.all(
      Array.from({ length: 20 }, (_, at) => send(pool, { path: `/${at}`, method: 'POST' }).over),
    )

    expect(calls.map((call) => call.body())).toEqual(calls.map((_, at) => `/${at}`))
    expect(server.connections).toHaveLength(20)
  })
})
