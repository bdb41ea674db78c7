import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type FrameRequest, type FrameServer, startFrameServer } from '../support/frame-server.ts'
import { answerPath } from '../support/h2-pool.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const get = 'GET /api/v1/public/a'
const post = 'POST /api/v1/articles'
const bearer = `Authorization: Bearer ${tokenOf('editor')}`

function startBefore(
  servers: readonly FrameServer[],
  settings: Readonly<Record<string, unknown>> = {},
) {
  const targets = servers.map(({ origin }) => origin)
  return startPostern({
    config: { upstreams: { backend: { targets, protocol: 'h2c', ...settings } } },
  })
}

describe('an upstream that speaks HTTP/2', () => {
  test('gets the identity of the caller, and its response reaches the client', async () => {
    const server = await startFrameServer(({ connection, id }) => {
      connection.headers(id, [':status', '201', 'x-a', 'b'])
      connection.data(id, 'hello', true)
    })
    const postern = await startBefore([server])

    const answer = await postern.call(get, { as: 'editor', headers: ['X-User-Id: 1', 'X-A: c'] })

    expect([answer.status, answer.header('x-a'), answer.body]).toEqual([201, 'b', 'hello'])
    expect(answer.header('content-length')).toBe('5')
    const { fields } = server.requests[0] as FrameRequest
    expect(fields).toMatchObject({
      ':method': 'GET',
      ':path': '/api/v1/public/a',
      'x-a': 'c',
      'x-forwarded-proto': 'http',
    })
    expect(fields['x-user-id']).not.toBe('1')
    expect(Object.keys(fields)).not.toContain('connection')
  })

  test('gets a body byte for byte, and its trailers reach a client that takes them', async () => {
    const server = await startFrameServer(({ connection, id }) => {
      void until(() => connection.body(id) === 'abcdef').then(() => {
        connection.headers(id, [':status', '200', 'trailer', 'grpc-status'])
        connection.data(id, 'ok')
        connection.headers(id, ['grpc-status', '0', 'grpc-message', 'fine', 'x-user-id', '1'], true)
      })
    })
    const postern = await startBefore([server])
    const bytes = request(post, [bearer, 'TE: trailers', 'Content-Length: 6'], 'abcdef')

    const { answers } = await sendRaw(postern.publicPort, bytes)

    expect(answers[0]).toMatchObject({
      status: 200,
      body: 'ok',
      trailers: [
        ['grpc-status', '0'],
        ['grpc-message', 'fine'],
      ],
    })
    expect(server.requests[0]?.fields).toMatchObject({ te: 'trailers', 'content-length': '6' })
  })

  test('gets a POST with its body again after it has refused the stream', async () => {
    const server = await startFrameServer(({ connection, id, turn }) => {
      void until(() => connection.body(id) === 'abcdef').then(() => {
        if (turn < 2) connection.reset(id, 0x7)
        else answerPath({ connection, id, fields: { ':path': '/again' }, isLast: true, turn })
      })
    })
    const postern = await startBefore([server])

    const answer = await postern.call(post, { as: 'editor', body: 'abcdef' })

    expect([answer.status, answer.body]).toEqual([200, '/again'])
    expect(server.requests).toHaveLength(3)
    expect(postern.logText()).toContain('"retries":2')
  })

  test('gets a POST again on a new connection after GOAWAY', async () => {
    const server = await startFrameServer((one) => {
      if (one.turn === 1) one.connection.goaway(1)
      else answerPath(one)
    })
    const postern = await startBefore([server])

    expect((await postern.call(get, { as: 'editor' })).status).toBe(200)
    const answer = await postern.call(post, { as: 'editor', body: 'abcdef' })

    expect([answer.status, answer.body]).toEqual([200, '/api/v1/articles'])
    await until(() => server.connections[1]?.body(1) === 'abcdef')
  })

  test.each([0x0, 0x8])(
    'that resets a response in its middle with code %i breaks off that of the client',
    async (code) => {
      const server = await startFrameServer(({ connection, id }) => {
        connection.headers(id, [':status', '200'])
        connection.data(id, 'half')
        setTimeout(() => connection.reset(id, code), 50)
      })
      const postern = await startBefore([server])
      const socket = connect(postern.publicPort, '127.0.0.1')
      onTestFinished(() => void socket.destroy())
      let text = ''
      socket.on('data', (chunk) => {
        text += String(chunk)
      })
      let isClosed = false
      socket.on('close', () => {
        isClosed = true
      })
      socket.on('error', () => {})
      socket.write(request(get, [bearer]))

      await until(() => isClosed)

      expect(text).toContain('half')
      expect(text).not.toContain('\r\n0\r\n')
      await until(() => postern.logText().includes('"outcome":"cut-by-upstream"'))
    },
  )

  test('fails one malformed response with 502, and no other', async () => {
    const server = await startFrameServer(({ connection, id, fields }) => {
      if (fields[':path']?.endsWith('bad')) {
        connection.headers(id, [':status', '204'])
        connection.data(id, 'body', true)
      } else setTimeout(() => answerPath({ connection, id, fields, isLast: true, turn: 0 }), 100)
    })
    const postern = await startBefore([server])

    const [good, bad] = await Promise.all([
      postern.call(get, { as: 'editor' }),
      postern.call('GET /api/v1/public/bad', { as: 'editor' }),
    ])

    expect([good.status, bad.status]).toEqual([200, 502])
    expect(server.connections).toHaveLength(1)
  })

  test('refuses WebSockets with 502, which opens no circuit', async () => {
    const server = await startFrameServer(answerPath)
    const postern = await startBefore([server], { breaker: { failures: 2 } })
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']

    for (let turn = 0; turn < 5; turn++) {
      expect((await postern.call(get, { as: 'editor', headers: upgrade })).status).toBe(502)
    }

    expect((await postern.call(get, { as: 'editor' })).status).toBe(200)
    expect(postern.logText()).toContain('needs HTTP/1.1')
  })

  test('is healthy if its check is answered over HTTP/2', async () => {
    const server = await startFrameServer(({ connection, id, fields }) => {
      const status = fields[':path'] === '/healthz' ? '500' : '200'
      connection.headers(id, [':status', status], true)
    })
    const well = await startFrameServer(answerPath)
    const healthCheck = { path: '/healthz', intervalMs: 100, unhealthyAfter: 1 }
    const postern = await startBefore([server, well], { healthCheck })
    await until(() => server.requests.some(({ fields }) => fields[':path'] === '/healthz'))
    await until(() => well.requests.some(({ fields }) => fields[':path'] === '/healthz'))

    await until(async () => {
      const before = well.requests.filter(({ fields }) => fields[':path'] !== '/healthz').length
      for (let turn = 0; turn < 4; turn++) await postern.call(get, { as: 'editor' })
      const after = well.requests.filter(({ fields }) => fields[':path'] !== '/healthz').length
      return after - before === 4
    })
  })
})
