import { once } from 'node:events'
import { createServer, type Http2Server } from 'node:http2'
import { type AddressInfo, createServer as createNetServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { FrameType, Setting } from '../../src/h2/frames.ts'
import { type FrameRequest, startFrameServer } from '../support/frame-server.ts'
import { answerPath, handMadeUpload, startH2Pool } from '../support/h2-pool.ts'
import { until } from '../support/until.ts'
import { send } from '../support/wire-call.ts'

async function startNodeServer(answer: (server: Http2Server) => unknown): Promise<string> {
  const server = createServer()
  answer(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a request', () => {
  test('reaches the server with pseudo-headers, lower-case names and no headers of HTTP/1.1', async () => {
    const server = await startFrameServer(answerPath)
    const pool = startH2Pool(server.origin)

    const call = await send(pool, {
      path: '/a?b=c',
      host: 'shop.example',
      headers: [
        'Accept',
        'x/y',
        'TE',
        'trailers',
        'Connection',
        'x',
        'Cookie',
        'a=1',
        'X-A',
        ' b ',
      ],
    }).over

    expect(call.body()).toBe('/a?b=c')
    expect(server.requests[0]?.fields).toEqual({
      ':method': 'GET',
      ':scheme': 'http',
      ':authority': 'shop.example',
      ':path': '/a?b=c',
      accept: 'x/y',
      te: 'trailers',
      cookie: 'a=1',
      'x-a': 'b',
    })
    expect(server.requests[0]?.isLast).toBe(true)
  })

  test.each([
    { path: '/a b' },
    { host: 'a\r\nb' },
    { headers: ['X-A', 'b\r\nc'] },
    { headers: ['X A', 'b'] },
    { headers: ['X-A', 'Ċ'] },
  ])('that cannot be sent unambiguously is refused: %j', async (request) => {
    const server = await startFrameServer(answerPath)

    const call = await send(startH2Pool(server.origin), request).over

    expect(call.error()).toMatchObject({ code: 'unsendable', sent: false })
    expect(server.connections).toHaveLength(0)
  })

  test('that wants an upgrade fails with the reason', async () => {
    const server = await startFrameServer(answerPath)

    const call = await send(startH2Pool(server.origin), { upgrade: 'websocket' }).over

    expect(call.error()).toMatchObject({
      code: 'unsendable',
      message: expect.stringContaining('protocol "http1" or "auto"'),
    })
  })

  test('sends its body as far as the server allows, and goes on when it allows more', async () => {
    const server = await startFrameServer(
      (request) => {
        if (request.isLast) answerPath(request)
      },
      { reads: false },
    )
    const pool = startH2Pool(server.origin)
    const body = handMadeUpload(200_000)
    const call = send(pool, { method: 'POST', upload: body.given })
    await until(() => body.starts.length === 1)

    expect(body.data('x'.repeat(100_000))).toBe(false)
    const [connection] = server.connections
    await until(() => connection?.body(1).length === 65_535)
    connection?.raw(window(0, 1_000_000))
    connection?.raw(window(1, 1_000_000))
    await until(() => body.events.includes('resume'))
    expect(body.data('y'.repeat(100_000))).toBe(false)
    body.end()

    await until(() => connection?.frames.at(-1)?.flags === 1)
    expect(connection?.body(1)).toBe('x'.repeat(100_000) + 'y'.repeat(100_000))
    connection?.headers(1, [':status', '204'], true)
    expect((await call.over).head()?.status).toBe(204)
  })

  test.each([
    ['shorter', 'abc', true],
    ['longer', 'abcdefgh', false],
  ])('with a body that is %s than its length is never complete', async (_, text, ends) => {
    const server = await startFrameServer(() => {})
    const body = handMadeUpload(5)
    const call = send(startH2Pool(server.origin), { method: 'POST', upload: body.given })
    await until(() => body.starts.length === 1)

    body.data(text)
    if (ends) body.end()

    expect((await call.over).error()).toMatchObject({ code: 'unsendable' })
    const [connection] = server.connections
    await until(() => connection?.count(FrameType.rstStream) === 1)
    expect(connection?.frames.some(({ type, flags }) => type === 0 && flags === 1)).toBe(false)
  })

  test('that is aborted resets its stream and no other', async () => {
    const server = await startFrameServer((request) => {
      if (request.turn === 1) answerPath(request)
    })
    const pool = startH2Pool(server.origin)
    const first = send(pool)
    await until(() => server.requests.length === 1)

    pool.abort(first.call)
    const second = await send(pool, { path: '/2' }).over

    expect(second.body()).toBe('/2')
    expect(first.events).toEqual(['sent'])
    expect(server.connections).toHaveLength(1)
    expect(server.connections[0]?.count(FrameType.rstStream)).toBe(1)
  })
})

describe('a response', () => {
  test('that arrives at once is delivered complete, with its length', async () => {
    const server = await startFrameServer(answerPath)

    const call = await send(startH2Pool(server.origin), { path: '/abc' }).over

    expect(call.events).toEqual(['sent', 'complete'])
    expect(call.head()).toMatchObject({ status: 200, headers: ['content-length', '4'], framing: 4 })
  })

  test('is streamed with trailers, after interim responses', async () => {
    const server = await startFrameServer(({ connection, id }) => {
      connection.headers(id, [':status', '103', 'link', '</a>'])
      connection.headers(id, [':status', '200', 'content-type', 'application/grpc'])
      connection.data(id, 'abc')
      connection.headers(id, ['grpc-status', '0', 'grpc-message', 'fine'], true)
    })

    const call = await send(startH2Pool(server.origin)).over

    expect(call.events).toEqual(['sent', 'head', 'data', 'end'])
    expect(call.head()).toMatchObject({ status: 200, framing: 'chunked' })
    expect(call.body()).toBe('abc')
    expect(call.trailers()).toEqual(['grpc-status', '0', 'grpc-message', 'fine'])
  })

  test('of trailers alone has them as headers, and no body', async () => {
    const server = await startFrameServer(({ connection, id }) =>
      connection.headers(id, [':status', '200', 'grpc-status', '12'], true),
    )

    const call = await send(startH2Pool(server.origin)).over

    expect(call.events).toEqual(['sent', 'complete'])
    expect(call.head()).toMatchObject({ headers: ['grpc-status', '12'], framing: 'none' })
  })

  test('of a server that is paused stops within its window, and goes on', async () => {
    const piece = 'x'.repeat(16_384)
    const server = await startFrameServer(({ connection, id }) => {
      connection.headers(id, [':status', '200'])
      // The window of one stream.
      for (let at = 0; at < 16; at++) connection.data(id, piece)
    })
    const pool = startH2Pool(server.origin)
    const call = send(pool, {}, { data: () => false })
    await until(() => call.body().length === 262_144)
    const updates = () =>
      server.connections[0]?.frames.filter(
        ({ type, streamId }) => type === FrameType.windowUpdate && streamId === 1,
      ).length
    expect(updates()).toBe(0)

    pool.resume(call.call)

    await until(() => (updates() ?? 0) > 0)
    server.connections[0]?.data(1, 'end', true)
    expect((await call.over).body()).toHaveLength(262_147)
  })

  test.each([0x0, 0x8, 0x2])(
    'that is reset in the middle with code %i is broken, never its end',
    async (code) => {
      const server = await startFrameServer(({ connection, id }) => {
        connection.headers(id, [':status', '200'])
        connection.data(id, 'half')
        connection.reset(id, code)
      })

      const call = await send(startH2Pool(server.origin)).over

      expect(call.events.at(-1)).toBe('failed')
      expect(call.error()).toMatchObject({ code: 'closed', sent: true, heard: true })
    },
  )

  test('that a handler cannot take fails only its own request', async () => {
    const server = await startFrameServer(answerPath)
    const pool = startH2Pool(server.origin)

    const [bad, good] = await Promise.all([
      send(pool, {}, { complete: () => throwing() }).over,
      send(pool, { path: '/2' }).over,
    ])

    expect(bad.error()?.message).toBe('no')
    expect(good.body()).toBe('/2')
  })
})

function throwing(): never {
  throw new Error('no')
}

function window(id: number, more: number): Buffer {
  const bytes = Buffer.from([0, 0, 4, FrameType.windowUpdate, 0, 0, 0, 0, id, 0, 0, 0, 0])
  bytes.writeUInt32BE(more, 9)
  return bytes
}

describe('one malformed response fails only its own stream', () => {
  const badValue = Buffer.from([0x00, 0x03, 0x78, 0x2d, 0x61, 0x03, 0x62, 0x0a, 0x63])
  const malformed: readonly (readonly [string, (request: FrameRequest) => void])[] = [
    [
      'more bytes than its length',
      ({ connection, id }) => {
        connection.headers(id, [':status', '200', 'content-length', '3'])
        connection.data(id, 'abcd', true)
      },
    ],
    [
      'fewer bytes than its length',
      ({ connection, id }) => {
        connection.headers(id, [':status', '200', 'content-length', '3'])
        connection.data(id, 'ab', true)
      },
    ],
    [
      'a body with 204',
      ({ connection, id }) => {
        connection.headers(id, [':status', '204'])
        connection.data(id, 'ab', true)
      },
    ],
    [
      'a line break in a header value',
      ({ connection, id }) => {
        const block = Buffer.concat([Buffer.from([0x88]), badValue])
        connection.raw(Buffer.concat([Buffer.from([0, 0, block.length, 1, 5, 0, 0, 0, id]), block]))
      },
    ],
    [
      'a pseudo-header in its trailers',
      ({ connection, id }) => {
        connection.headers(id, [':status', '200'])
        connection.data(id, 'ab')
        connection.headers(id, [':status', '200'], true)
      },
    ],
    ['an invalid status', ({ connection, id }) => connection.headers(id, [':status', '20'], true)],
    ['data before its head', ({ connection, id }) => connection.data(id, 'ab', true)],
    [
      'a header of HTTP/1.1',
      ({ connection, id }) =>
        connection.headers(id, [':status', '200', 'connection', 'close'], true),
    ],
    [
      'more than 64 KiB of interim responses',
      ({ connection, id }) => {
        for (let at = 0; at < 10; at++) {
          connection.headers(id, [':status', '103', 'x', 'y'.repeat(8000)])
        }
      },
    ],
  ]

  test.each(malformed)('%s', async (_, answer) => {
    const held: FrameRequest[] = []
    const server = await startFrameServer((request) => {
      if (request.fields[':path'] === '/bad') answer(request)
      else held.push(request)
    })
    const pool = startH2Pool(server.origin)
    const good = send(pool, { path: '/good' })
    await until(() => held.length === 1)

    const bad = await send(pool, { path: '/bad' }).over
    for (const request of held) answerPath(request)

    expect(bad.error()).toMatchObject({ code: 'malformed', sent: true })
    expect(bad.events).not.toContain('complete')
    expect((await good.over).body()).toBe('/good')
    expect(server.connections).toHaveLength(1)
  })
})

describe('a request that the server has not processed may be sent again', () => {
  test('after GOAWAY; those before it are served', async () => {
    const server = await startFrameServer((request) => {
      if (request.turn === 1) {
        request.connection.goaway(1)
        answerPath(server.requests[0] as FrameRequest)
      } else if (request.turn > 1) answerPath(request)
    })
    const pool = startH2Pool(server.origin)

    const [served, refused] = await Promise.all([
      send(pool, { path: '/1' }).over,
      send(pool, { path: '/2', method: 'POST' }).over,
    ])
    const again = await send(pool, { path: '/3' }, {}, true).over

    expect(served.body()).toBe('/1')
    expect(refused.error()).toMatchObject({
      code: 'closed',
      sent: false,
      heard: false,
      reused: true,
    })
    expect(again.body()).toBe('/3')
    expect(server.connections).toHaveLength(2)
  })

  test('after REFUSED_STREAM, with the body that was sent so far', async () => {
    const server = await startFrameServer(() => {})
    const pool = startH2Pool(server.origin)
    const body = handMadeUpload()
    const call = send(pool, { method: 'POST', upload: body.given })
    await until(() => body.starts.length === 1)
    body.data('abc')
    body.data('def')
    await until(() => server.connections[0]?.body(1) === 'abcdef')

    server.connections[0]?.reset(1, 0x7)

    const howFar = { code: 'refused-stream', sent: false, heard: false, reused: true }
    expect((await call.over).error()).toMatchObject(howFar)
    expect(body.rewound).toEqual(['abcdef'])
  })

  test('but not if its body is too long to be kept, or a response had begun', async () => {
    const server = await startFrameServer(() => {})
    const pool = startH2Pool(server.origin)
    const [long, answered] = [handMadeUpload(), handMadeUpload()]
    const calls = [long, answered].map(({ given }) => send(pool, { method: 'POST', upload: given }))
    await until(() => answered.starts.length === 1)
    const [connection] = server.connections
    long.data('x'.repeat(65_537))
    answered.data('abc')
    await until(() => connection?.body(3) === 'abc')

    connection?.headers(3, [':status', '103'])
    connection?.reset(1, 0x7)
    connection?.reset(3, 0x7)

    expect((await calls[0]?.over)?.error()).toMatchObject({ code: 'closed', sent: true })
    expect((await calls[1]?.over)?.error()).toMatchObject({ code: 'closed', heard: true })
    expect([...long.rewound, ...answered.rewound]).toEqual([])
  })
})

describe('a connection', () => {
  test('has as many requests as the server and the settings allow; then there is another one', async () => {
    const held: FrameRequest[] = []
    const server = await startFrameServer((request) => held.push(request), {
      settings: [[Setting.maxConcurrentStreams, 3]],
    })
    const pool = startH2Pool(server.origin, { connections: 8 })

    const calls = Array.from({ length: 12 }, (_, at) => send(pool, { path: `/${at}` }))
    await until(() => held.length === 8)

    expect(calls.filter(({ events }) => events.includes('sent'))).toHaveLength(8)
    expect(
      server.connections.map(({ frames }) => frames.filter(({ type }) => type === 1).length),
    ).toEqual([3, 3, 2])
    expect(pool.size()).toBe(3)
    for (let served = 0; served < 12; served++) {
      await until(() => held.length > 0)
      answerPath(held.shift() as FrameRequest)
    }
    await Promise.all(calls.map((call) => call.over))
    expect(calls.map((call) => call.body())).toEqual(calls.map((_, at) => `/${at}`))
    expect(server.connections).toHaveLength(3)
  })

  test('ends at PUSH_PROMISE; the next request gets a new one', async () => {
    const server = await startFrameServer((request) => {
      const { connection, id, turn } = request
      if (turn === 0) connection.headers(id, [':status', '200'])
      else if (turn === 1) {
        connection.raw(Buffer.from([0, 0, 5, 5, 4, 0, 0, 0, id, 0, 0, 0, 2, 0x82]))
      } else answerPath(request)
    })
    const pool = startH2Pool(server.origin)
    const begun = send(pool, { path: '/1' })
    await until(() => begun.events.includes('head'))

    const unanswered = await send(pool, { path: '/2' }).over
    const next = await send(pool, { path: '/3' }).over

    expect((await begun.over).error()).toMatchObject({ code: 'closed', heard: true })
    expect(unanswered.error()).toMatchObject({ code: 'closed', sent: true, heard: false })
    expect(unanswered.error()?.message).toContain('PUSH_PROMISE')
    expect(next.body()).toBe('/3')
    expect(server.connections).toHaveLength(2)
  })

  test('that breaks fails its requests, and a fresh one gets a connection that is newer', async () => {
    const server = await startFrameServer(
      (request) => {
        if (request.turn === 2) server.connections[0]?.socket.destroy()
        else if (request.turn > 2) answerPath(request)
      },
      { settings: [[Setting.maxConcurrentStreams, 2]] },
    )
    const pool = startH2Pool(server.origin)
    const calls = ['/1', '/2', '/3'].map((path) => send(pool, { path }))

    const first = await calls[0]?.over
    const again = await send(pool, { path: '/4' }, {}, true).over

    expect(first?.error()).toMatchObject({ code: expect.stringMatching(/closed|ECONNRESET/) })
    expect(again.body()).toBe('/4')
    expect(server.requests.at(-1)?.connection).toBe(server.connections[2])
  })

  test('of a server that speaks HTTP/1.1 fails with the reason', async () => {
    const server = createNetServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const pool = startH2Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)

    const call = await send(pool).over

    expect(call.error()).toMatchObject({
      code: 'no-h2',
      sent: false,
      message: 'the upstream speaks HTTP/1.1, not HTTP/2',
    })
  })

  test('that nobody accepts fails every request that waits for it', async () => {
    const server = createNetServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const pool = startH2Pool(`http://127.0.0.1:${port}`)

    const calls = await Promise.all([send(pool).over, send(pool).over, send(pool).over])

    for (const call of calls) {
      expect(call.error()).toMatchObject({ code: 'ECONNREFUSED', sent: false })
    }
    expect(pool.size()).toBe(0)
  })
})

describe('beside Node', () => {
  test('requests, bodies, trailers and large responses arrive as they were sent', async () => {
    const large = 'z'.repeat(1_000_000)
    const origin = await startNodeServer((server) =>
      server.on('stream', (stream, headers) => {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => {
          stream.respond({ ':status': 200, 'x-path': headers[':path'] }, { waitForTrailers: true })
          stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': 'abc' }))
          stream.end(headers[':method'] === 'POST' ? Buffer.concat(chunks) : large)
        })
      }),
    )
    const pool = startH2Pool(origin)
    const body = handMadeUpload()
    const post = send(pool, { method: 'POST', path: '/up', upload: body.given })
    await until(() => body.starts.length === 1)
    body.data('hello ')
    body.data('world')
    body.end()

    const [up, down] = await Promise.all([post.over, send(pool, { path: '/down' }).over])

    expect(up.body()).toBe('hello world')
    expect(up.trailers()).toEqual(['x-sum', 'abc'])
    expect(down.body()).toBe(large)
    expect(down.head()?.headers).toContain('/down')
    expect(pool.size()).toBe(1)
  })
})

test('a small frame of a response does not keep all that was read with it', async () => {
  const server = await startFrameServer(({ connection, id, turn }) => {
    connection.headers(id, [':status', '200'])
    if (turn === 0) return
    connection.data(1, 'small')
    for (let left = 3; left > 0; left--) connection.data(id, 'a'.repeat(16_384))
  })
  const pool = startH2Pool(server.origin)
  const kept: Buffer[] = []
  const slow = send(pool, {}, { data: (chunk) => kept.push(chunk) > 0 })
  await until(() => slow.events.includes('head'))
  const other = send(pool)

  await until(() => other.body().length === 3 * 16_384)
  expect(kept.map((chunk) => chunk.toString())).toEqual(['small'])
  expect(kept[0]?.buffer.byteLength).toBeLessThan(1000)
})
