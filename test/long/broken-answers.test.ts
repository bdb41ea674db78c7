import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openClient } from '../support/open-client.ts'
import { parseAnswers, request, sendRaw } from '../support/raw-client.ts'
import { ok, type RecordedRequest, startRecordingUpstream } from '../support/recording-upstream.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const asEditor = `Authorization: Bearer ${tokenOf('editor')}`
const get = request('GET /api/v1/public/a', [asEditor])
const answer = (head: string, body = '') => `HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`
const chunked = 'Transfer-Encoding: chunked'

/** Nothing that only the log may say: addresses, codes of libraries, stacks, paths of files. */
const inner =
  /127\.0\.0\.1|localhost|\[?::1|UND_ERR|HPE_|ERR_|E[A-Z]{5,}|Error|undici|llhttp|node:|\.[tj]s\b|at \w+ \(|invalid|host\.test/

const firstChunk = '5\r\nhello\r\n'

/** What is wrong behind a first chunk. */
const brokenChunks: readonly [string, string][] = [
  ['a chunk size of letters', 'zz\r\nxx\r\n0\r\n\r\n'],
  ['a chunk size with a sign', '-1\r\nxx\r\n0\r\n\r\n'],
  ['a chunk size with a space', '2 \r\nxx\r\n0\r\n\r\n'],
  ['a chunk size beyond 64 bits', '10000000000000000\r\nx\r\n'],
  ['no chunk size', '\r\n0\r\n\r\n'],
  ['a chunk longer than it says', '2\r\nxxx\r\n0\r\n\r\n'],
  ['a chunk line that ends with LF alone', '2\nxx\r\n0\r\n\r\n'],
  ['a chunk that ends with LF alone', '2\r\nxx\n0\r\n\r\n'],
  ['an endless chunk extension', `2;${'a'.repeat(70_000)}\r\nxx\r\n0\r\n\r\n`],
  ['a control character in a chunk extension', '2;a\0b\r\nxx\r\n0\r\n\r\n'],
  ['trailers of 20 KiB', `0\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`],
  ['a trailer that says another length', '0\r\nContent-Length: 9\r\n\r\n'],
  ['a chunk whose line ends in LF', '5;a=b\nhello\r\n0\r\n\r\n'],
  ['a chunk without its CRLF', '2\r\nxx0\r\n\r\n'],
  ['a chunk size in another notation', '0x2\r\nxx\r\n0\r\n\r\n'],
  ['NUL in a trailer', '0\r\nX: a\0b\r\n\r\n'],
  ['a trailer that says another coding', '0\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['a trailer without a name', '0\r\n: a\r\n\r\n'],
]

/** What an upstream does that is no answer; each is the whole of what it sends. */
const noAnswers: readonly [string, string | ((socket: Socket) => unknown)][] = [
  ['garbage', '\0\x01\x02\xff garbage\r\n\r\n'],
  ['another protocol', 'SSH-2.0-OpenSSH_9\r\n\r\n'],
  ['an answer of HTTP/0.9', '<html>hello</html>'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n'],
  ['a status of letters', 'HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n'],
  ['a status of 0', 'HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n'],
  ['another version', 'HTTP/3.7 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['a request', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['two lengths', answer('Content-Length: 2\r\nContent-Length: 3', 'ok!')],
  ['a list of lengths', answer('Content-Length: 2, 3', 'ok!')],
  ['a negative length', answer('Content-Length: -2', 'ok')],
  ['a length beyond 64 bits', answer('Content-Length: 99999999999999999999', 'ok')],
  ['both framings', answer(`Content-Length: 2\r\n${chunked}`, '0\r\n\r\n')],
  ['both framings, coding first', answer(`${chunked}\r\nContent-Length: 2`, '0\r\n\r\n')],
  ['another coding', answer('Transfer-Encoding: gzip, chunked', '0\r\n\r\n')],
  ['a header block of 64 KiB', answer(`X-Big: ${'a'.repeat(65_536)}\r\nContent-Length: 0`)],
  ['5,000 headers', answer(`${'X-A: b\r\n'.repeat(5000)}Content-Length: 0`)],
  ['a control character in a header', answer('X-A: a\x01b\r\nContent-Length: 0')],
  ['NUL in a header', answer('X-A: a\0b\r\nContent-Length: 0')],
  ['a bare CR in a header', answer('X-A: a\rX-B: b\r\nContent-Length: 0')],
  ['a space before the colon', answer('X-A : b\r\nContent-Length: 0')],
  ['a header that goes on in the next line', answer('X-A: a\r\n b\r\nContent-Length: 0')],
  ['DEL in a header', answer('X-A: a\x7fb\r\nContent-Length: 0')],
  ['a header with a name beyond ASCII', answer('X-\xe4: b\r\nContent-Length: 0')],
  ['lines that end in LF', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n'],
  ['lines that end in CR', 'HTTP/1.1 200 OK\rContent-Length: 0\r\r'],
  ['the same length twice', answer('Content-Length: 2\r\nContent-Length: 2', 'ok')],
  ['a length with a sign', answer('Content-Length: +2', 'ok')],
  ['a length in hexadecimal', answer('Content-Length: 0x2', 'ok')],
  ['a length that is empty', answer('Content-Length:', 'ok')],
  ['the coding twice', answer(`${chunked}\r\n${chunked}`, '0\r\n\r\n')],
  ['the coding identity', answer('Transfer-Encoding: identity', 'ok')],
  ['a coding behind chunked', answer('Transfer-Encoding: chunked, gzip', '0\r\n\r\n')],
  ['a coding that looks like chunked', answer('Transfer-Encoding: xchunked', '0\r\n\r\n')],
  ['interim answers of 64 KiB', `HTTP/1.1 103 Hints\r\nX: ${'a'.repeat(65_536)}\r\n\r\n`],
  ['a header without a name', answer(': b\r\nContent-Length: 0')],
  ['100 that nobody asked for', 'HTTP/1.1 100 Continue\r\n\r\n'],
  [
    '101 that nobody asked for',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nraw',
  ],
  // With nothing of it told yet, it is a fault like any other.
  ...brokenChunks.map(([what, rest]): [string, string] => [
    `${what}, all in one packet`,
    answer(chunked, firstChunk + rest),
  ]),
  ['a close without an answer', (socket) => socket.end()],
  ['a close within the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le')],
  ['a reset', (socket) => socket.resetAndDestroy()],
  ['silence', () => {}],
  ['headers that never end', (socket) => void trickle(socket, 'HTTP/1.1 200 OK\r\nX-A: ')],
]

/** What breaks once the client has the beginning. */
const brokenWithin: readonly [string, string | ((socket: Socket) => unknown)][] = [
  ['a body that ends before its length', (socket) => socket.end(answer('Content-Length: 99', 'a'))],
  ['chunks without the last one', (socket) => socket.end(answer(chunked, '5\r\nhello\r\n'))],
  ['half a chunk', (socket) => socket.end(answer(chunked, '50\r\nhello'))],
  ...brokenChunks.map(([what, rest]): [string, (socket: Socket) => unknown] => [
    what,
    (socket) =>
      socket.write(answer(chunked, firstChunk), () => setTimeout(() => socket.write(rest), 50)),
  ]),
  [
    'a reset',
    (socket) => socket.write(answer('Content-Length: 99', 'a'), () => socket.resetAndDestroy()),
  ],
  [
    'a reset where the close would be the end',
    (socket) =>
      socket.write(answer('Connection: close', 'a'), () =>
        setTimeout(() => socket.resetAndDestroy(), 50),
      ),
  ],
  ['a pause without end', answer('Content-Length: 99', 'a')],
  [
    'a last chunk that never ends',
    (socket) => void trickle(socket, answer(chunked, '5\r\nhello\r\n0')),
  ],
]

function trickle(socket: Socket, first: string): void {
  socket.write(first)
  const timer = setInterval(() => socket.write('0'), 20)
  socket.on('close', () => clearInterval(timer))
}

function play(socket: Socket, what: string | ((socket: Socket) => unknown)): void {
  if (typeof what === 'string') socket.write(what, 'latin1')
  else what(socket)
}

/** One connection to the upstream: what is wrong with it would meet the next client. */
async function startNarrow() {
  const upstream = await startRecordingUpstream()
  onTestFinished(upstream.close)
  const postern = await startPostern({
    config: {
      upstreams: {
        backend: {
          targets: [upstream.origin],
          connections: 1,
          headersTimeoutMs: 300,
          bodyTimeoutMs: 300,
          breaker: { failures: 10_000 },
        },
      },
    },
  })
  return { postern, upstream }
}

describe('what is no answer of HTTP/1.1', () => {
  test.each(noAnswers)(
    'is a fault in our own words, and the next caller has the own answer: %s',
    async (_, what) => {
      const { postern, upstream } = await startNarrow()
      upstream.answerWith((socket) => play(socket, what))

      const { answers, bytes } = await sendRaw(postern.publicPort, get, { quietMs: 60_000 })
      upstream.answerWith((socket) => socket.write(ok))
      const next = await postern.call('GET /api/v1/public/b', { as: 'editor' })

      expect([502, 504]).toContain(answers[0]?.status)
      expect(answers[0]?.json()).toEqual({
        code: answers[0]?.status,
        msg: expect.any(String),
        requestId: expect.any(String),
      })
      expect(bytes.toString('latin1')).not.toMatch(inner)
      expect(next.json()).toEqual({ ok: true })
    },
  )
})

// T199, T201
describe('an answer that breaks', () => {
  test.each(brokenWithin)(
    'ends the connection of the client without an end of the answer: %s',
    async (_, what) => {
      const { postern, upstream } = await startNarrow()
      upstream.answerWith((socket) => play(socket, what))

      const client = await openClient(postern.publicPort, get)
      await until(client.closed)
      upstream.answerWith((socket) => socket.write(ok))
      const next = await postern.call('GET /api/v1/public/b', { as: 'editor' })

      expect(client.text()).toMatch(/^HTTP\/1\.1 200 OK/)
      expect(parseAnswers(Buffer.from(client.text(), 'latin1'))).toEqual([])
      expect(client.text()).not.toMatch(inner)
      expect(next.json()).toEqual({ ok: true })
      await until(() => upstream.connections() === 1)
    },
  )

  test('is a reset to a client of HTTP/1.0, for which a close would be its end', async () => {
    const { postern, upstream } = await startNarrow()
    upstream.answerWith((socket) => {
      socket.write(answer(chunked, '5\r\nhello\r\n'))
      setTimeout(() => socket.destroy(), 100)
    })

    const client = await openClient(postern.publicPort, get.replace('HTTP/1.1', 'HTTP/1.0'))
    await until(client.closed)

    expect(client.text()).toContain('hello')
    expect(client.error()).toBe('ECONNRESET')
  })
})

// T205
describe('a second answer that nobody asked for', () => {
  const evil = ok.replace('true', '"evil"')

  test.each<[string, (socket: Socket) => void]>([
    ['in the same packet', (socket) => void socket.write(ok + evil)],
    ['half of it in the same packet', (socket) => void socket.write(ok + evil.slice(0, 20))],
    [
      'on a connection that is idle',
      (socket) => {
        socket.write(ok)
        setTimeout(() => socket.write(evil), 50)
      },
    ],
    ['behind chunks', (socket) => void socket.write(answer(chunked, `0\r\n\r\n${evil}`))],
    ['behind HEAD', (socket) => void socket.write(answer('Content-Length: 11', evil))],
  ])('never reaches anybody: %s', async (kind, script) => {
    const { postern, upstream } = await startNarrow()
    const bytes = kind === 'behind HEAD' ? get.replace('GET', 'HEAD') : get
    upstream.answerWith(script)
    const admin = request('GET /x', [`Authorization: Bearer ${tokenOf('admin')}`])
    const first = await sendRaw(postern.publicPort, bytes, {
      bodiless: kind === 'behind HEAD',
    })
    if (kind.includes('idle')) await until(() => upstream.connections() === 0)
    upstream.answerWith((socket) => socket.write(ok))
    const next = await sendRaw(postern.publicPort, [admin, get], { expected: 2 })

    expect(first.bytes.toString('latin1')).not.toContain('evil')
    expect(next.answers.map(({ body }) => body)).toEqual(['{"ok":true}', expect.any(String)])
    expect(next.bytes.toString('latin1')).not.toContain('evil')
  })
})

// T136, T204, T205
describe('two callers over one connection to a broken upstream', () => {
  const whose = ({ values }: RecordedRequest) => values('x-user-id')[0] ?? ''
  const own = (id: string) =>
    `HTTP/1.1 200 OK\r\nContent-Length: ${id.length + 5}\r\n\r\nuser-${id}`
  const ways: readonly ((socket: Socket, id: string) => unknown)[] = [
    (socket, id) => socket.write(own(id)),
    (socket, id) => socket.write(own(id) + own(id)),
    (socket, id) => socket.write(own(id)),
    (socket, id) => socket.end(own(id).slice(0, -1)),
    (socket, id) => socket.write(answer('Content-Length: 2\r\nContent-Length: 3', own(id))),
    (socket, id) => socket.write(`HTTP/1.1 204 No Content\r\n\r\n${own(id)}`),
    (socket, id) => socket.write(own(id)),
    (socket) => socket.resetAndDestroy(),
    (socket, id) => socket.write(answer(chunked, `zz\r\n${own(id)}`)),
    (socket, id) => socket.write(`HTTP/1.1 103 Early Hints\r\nX: ${id}\r\n\r\n${own(id)}`),
    (socket, id) => socket.end(own(id)),
  ]

  test('never get anything of each other, in 1,000 turns', async () => {
    const { postern, upstream } = await startNarrow()
    let turn = 0
    upstream.answerWith((socket, sent) => ways[turn++ % ways.length]?.(socket, whose(sent)))
    const callers = ['1001', '2002'].map((id) => ({
      id,
      bytes: request('GET /mine', [
        `Authorization: Bearer ${tokenOf('admin', { identity: Number(id) })}`,
        'Connection: close',
      ]),
    }))
    const foreign: string[] = []
    let answered = 0

    for (let round = 0; round < 500; round++) {
      await Promise.all(
        callers.map(async ({ id, bytes }) => {
          const got = (await exchangeOnce(postern.publicPort, bytes)).toString('latin1')
          if (got.includes(id === '1001' ? 'user-2002' : 'user-1001')) foreign.push(got)
          if (got.includes(`user-${id}`)) answered++
        }),
      )
    }

    expect(foreign).toEqual([])
    expect(answered).toBeGreaterThan(300)
    expect(turn).toBeGreaterThanOrEqual(1000)
  })
})

/** All that comes until the gateway closes the connection. */
async function exchangeOnce(port: number, bytes: string): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {})
  socket.write(bytes)
  await once(socket, 'close')
  return Buffer.concat(chunks)
}

// T198
describe('an upstream that cannot be reached', () => {
  test('because a connection to it is never made: 504 in the time for connecting', async () => {
    // Its end of the handshake never comes.
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.resume()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const postern = await startPostern({
      config: {
        upstreams: {
          backend: { targets: [`https://127.0.0.1:${port}`], connectTimeoutMs: 300, retries: 0 },
        },
      },
    })

    const { answers, bytes } = await sendRaw(postern.publicPort, get, { quietMs: 60_000 })

    expect(answers.map(({ status }) => status)).toEqual([504])
    expect(bytes.toString('latin1')).not.toMatch(inner)
  })

  test('because its name leads nowhere: 502', async () => {
    const postern = await startPostern({
      config: { upstreams: { backend: { targets: ['http://orders.invalid:80'], retries: 0 } } },
    })

    const { answers, bytes } = await sendRaw(postern.publicPort, get, { quietMs: 60_000 })

    expect(answers.map(({ status }) => status)).toEqual([502])
    expect(bytes.toString('latin1')).not.toMatch(/orders|ENOTFOUND|EAI/)
    expect(postern.logText()).toContain('"outcome":"upstream-unreachable"')
  })
})
