import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Upload, UploadSink, WireRequest } from '../../src/wire/request-head.ts'
import { until } from '../support/until.ts'
import { send, startPool } from '../support/wire-call.ts'
import { type Served, startWireServer } from '../support/wire-server.ts'

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** A body that the test hands over by hand. */
function handMade(length?: number) {
  let resumed = 0
  const { promise, resolve } = Promise.withResolvers<UploadSink>()
  const upload: Upload = {
    length,
    start: resolve,
    resume: () => void resumed++,
    stop() {},
  }
  const headers = length === undefined ? [] : ['Content-Length', String(length)]
  const request: Partial<WireRequest> = { method: 'POST', headers, upload }
  return { request, sink: promise, resumed: () => resumed }
}

/** Answers when a body with this end has come, and to whatever follows it without one. */
function answering(ending: string) {
  return ({ socket, takeOver }: Served) => {
    let text = takeOver()
    const answer = () => {
      if (!text.endsWith(ending) && !text.endsWith('\r\n\r\n')) return
      received.push(text)
      text = ''
      socket.write(ok)
    }
    answer()
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      answer()
    })
    socket.resume()
  }
}

/** The body of the first request, and all of those that followed it. */
let received: string[] = []
beforeEach(() => {
  received = []
})

describe('a body on its way', () => {
  test('goes out in chunks when its length is unknown', async () => {
    const server = await startWireServer(answering('0\r\n\r\n'))
    const pool = startPool(server.origin)
    const { request, sink } = handMade()

    const call = send(pool, request)
    const to = await sink
    to.data(Buffer.from('hello'))
    await until(() => server.received(0).includes('POST'))
    to.data(Buffer.from('x'.repeat(16)))
    to.end()
    await call.over

    expect(call.body()).toBe('ok')
    expect(server.received(0)).toMatch(/^POST \/ HTTP\/1\.1\r\n/)
    expect(server.received(0)).toContain('\r\nTransfer-Encoding: chunked\r\n')
    expect(received).toEqual([`5\r\nhello\r\n10\r\n${'x'.repeat(16)}\r\n0\r\n\r\n`])
  })

  test('goes out as it is when its length is known', async () => {
    const server = await startWireServer(answering('helloworld'))
    const pool = startPool(server.origin)
    const { request, sink } = handMade(10)

    const call = send(pool, request)
    const to = await sink
    to.data(Buffer.from('hello'))
    to.data(Buffer.from('world'))
    to.end()
    await call.over
    const next = await send(pool).over

    expect([call.body(), next.body()]).toEqual(['ok', 'ok'])
    expect(server.received(0)).toContain('\r\nContent-Length: 10\r\n')
    expect(received).toEqual(['helloworld', expect.stringMatching(/^GET /)])
    expect(server.sockets).toHaveLength(1)
  })

  // As a chunk, it would be the end of the body, and the rest of it another request.
  test('may have an empty piece', async () => {
    const server = await startWireServer(answering('0\r\n\r\n'))
    const pool = startPool(server.origin)
    const { request, sink } = handMade()

    const call = send(pool, request)
    const to = await sink
    to.data(Buffer.from('a'))
    to.data(Buffer.alloc(0))
    to.data(Buffer.from('b'))
    to.end()
    await call.over

    expect(call.body()).toBe('ok')
    expect(received).toEqual(['1\r\na\r\n1\r\nb\r\n0\r\n\r\n'])
  })

  test.each([
    ['longer', 'hello!GET /evil HTTP/1.1'],
    ['shorter', 'hell'],
  ])('that is %s than it says ends the connection', async (_, body) => {
    const server = await startWireServer(() => {})
    const pool = startPool(server.origin)
    const { request, sink } = handMade(5)

    const call = send(pool, request)
    const to = await sink
    to.data(Buffer.from(body))
    to.end()
    await call.over

    expect(call.error()?.code).toBe('unsendable')
    await until(() => server.open() === 0)
    expect(server.received(0)).not.toContain('evil')
  })

  test('that fails ends the connection without an end of the body', async () => {
    const server = await startWireServer(() => {})
    const pool = startPool(server.origin)
    const { request, sink } = handMade()
    const reason = new Error('the client left')

    const call = send(pool, request)
    const to = await sink
    to.data(Buffer.from('hello'))
    await until(() => server.received(0).endsWith('hello\r\n'))
    to.fail(reason)
    await call.over

    expect(call.error()).toBe(reason)
    await until(() => server.open() === 0)
    expect(server.received(0)).not.toContain('0\r\n\r\n')
  })

  test('that fails before it has begun is told after the request was sent', async () => {
    const server = await startWireServer(() => {})
    const pool = startPool(server.origin)
    const upload: Upload = {
      length: 5,
      start: (sink) => sink.fail(new Error('the client left')),
      resume() {},
      stop() {},
    }

    const call = await send(pool, { method: 'POST', upload }).over

    expect(call.events).toEqual(['sent', 'failed'])
    await until(() => server.open() === 0)
  })

  test('of a request that nobody waits for any more is not sent', async () => {
    const server = await startWireServer(() => {})
    const pool = startPool(server.origin)
    const { request, sink } = handMade()

    const call = send(pool, request)
    const to = await sink
    pool.abort(call.call)

    expect(to.data(Buffer.from('hello'))).toBe(true)
    to.end()
    to.fail(new Error('late'))
    await until(() => server.open() === 0)
    expect(server.received(0)).not.toContain('hello')
    expect(call.events).toEqual(['sent'])
  })

  test('is held back while the server does not read, and goes on when it does', async () => {
    const total = 16_000_000
    let received = 0
    const server = await startWireServer(({ socket, takeOver }) => {
      received = takeOver().length
      socket.on('data', (chunk) => {
        received += chunk.length
        if (received === total) socket.write(ok)
      })
      socket.pause()
    })
    const pool = startPool(server.origin)
    const { request, sink, resumed } = handMade(total)
    const piece = Buffer.alloc(100_000)

    const call = send(pool, request)
    await until(() => server.sockets.length === 1)
    const to = await sink
    let sent = 0
    const push = () => {
      while (sent < total) {
        sent += piece.length
        if (!to.data(piece)) return
      }
    }
    push()
    await pause(100)
    const before = sent
    server.sockets[0]?.resume()
    while (sent < total) {
      const turns = resumed()
      push()
      if (sent < total) await until(() => resumed() > turns)
    }
    to.end()
    await call.over

    expect(before).toBeLessThan(total)
    expect(resumed()).toBeGreaterThan(0)
    expect(call.body()).toBe('ok')
  })
})

describe('an answer that comes before the body is sent', () => {
  test('is the answer, and its connection is not used again', async () => {
    const server = await startWireServer(({ socket }) => socket.write(ok))
    const pool = startPool(server.origin)
    const { request, sink } = handMade(1000)

    const call = send(pool, request)
    const to = await sink
    to.data(Buffer.from('a'))
    await call.over
    to.data(Buffer.alloc(999))
    to.end()
    const next = await send(pool).over

    expect([call.body(), next.body()]).toEqual(['ok', 'ok'])
    expect(server.sockets).toHaveLength(2)
    await until(() => server.open() === 1)
  })

  test('may go on while the rest is sent', async () => {
    const server = await startWireServer(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      socket.on('data', (chunk) => {
        if (!chunk.toString('latin1').endsWith('end')) return
        setImmediate(() => socket.write('2\r\nok\r\n0\r\n\r\n'))
      })
    })
    const pool = startPool(server.origin)
    const { request, sink } = handMade(6)

    const call = send(pool, request)
    const to = await sink
    await until(() => call.events.includes('head'))
    to.data(Buffer.from('thuend'))
    to.end()
    await call.over
    await send(pool, { method: 'HEAD' }).over.catch(() => {})

    expect(call.body()).toBe('ok')
    expect(server.sockets).toHaveLength(1)
  })
})

describe('a request without a body', () => {
  test.each([
    ['POST', true],
    ['PUT', true],
    ['PATCH', true],
    ['GET', false],
    ['DELETE', false],
  ])('with %s says so where one is expected: %s', async (method, says) => {
    const server = await startWireServer(({ socket }) => socket.write(ok))
    const pool = startPool(server.origin)

    await send(pool, { method }).over
    await send(pool, { method, headers: ['content-length', '0'] }).over

    const [first = '', second = ''] = server.received(0).split(/(?<=\r\n\r\n)/)
    expect(/content-length: 0\r\n/i.test(first)).toBe(says)
    expect(second.match(/content-length/gi)).toHaveLength(1)
  })
})

describe('a request that would be read as another one', () => {
  test.each([
    ['a line break in a value', { headers: ['X-A', 'b\r\nX-User-Id: 1'] }],
    ['LF in a value', { headers: ['X-A', 'b\nX-User-Id: 1'] }],
    ['CR in a value', { headers: ['X-A', 'b\rX-User-Id: 1'] }],
    ['NUL in a value', { headers: ['X-A', 'b\0'] }],
    // Its lower byte, which is what Latin-1 keeps, is LF.
    ['a character that becomes LF', { headers: ['X-A', 'b\u{10a}X-User-Id: 1'] }],
    ['a line break in the path', { path: '/a HTTP/1.1\r\nX-A: b' }],
    ['a space in the path', { path: '/a b' }],
    ['a character in the path that becomes a space', { path: '/a\u{120}b' }],
    ['a line break in the host', { host: 'a\r\nX-A: b' }],
    ['a space in the host', { host: 'a b' }],
  ])('is not sent, and the next one is: %s', async (_, request) => {
    const server = await startWireServer(({ socket }) => socket.write(ok))
    const pool = startPool(server.origin)
    await send(pool).over

    const refused = await send(pool, request).over
    const next = await send(pool, { headers: ['X-A', 'b\t\xe4 '], path: '/\xe4?b' }).over

    expect(refused.events).toEqual(['failed'])
    expect(refused.error()).toMatchObject({ code: 'unsendable' })
    expect(next.body()).toBe('ok')
    expect(server.received(0)).not.toContain('X-User-Id')
    expect(server.received(0).match(/ HTTP\/1\.1/g)).toHaveLength(2)
    expect(server.received(0)).toContain('GET /\xe4?b HTTP/1.1\r\n')
  })
})
