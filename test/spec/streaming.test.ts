import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openClient } from '../support/open-client.ts'
import { parseAnswers, request, sendRaw } from '../support/raw-client.ts'
import { ok, startRecordingUpstream } from '../support/recording-upstream.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const asEditor = `Authorization: Bearer ${tokenOf('editor')}`
const path = '/api/v1/public/a'
const get = (...headers: string[]) => request(`GET ${path}`, [asEditor, ...headers])
const post = (headers: readonly string[], body = '') =>
  request('POST /api/v1/articles', [asEditor, ...headers], body)
const eventHead =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

interface Settings {
  readonly limits?: Readonly<Record<string, number>>
  readonly backend?: Readonly<Record<string, number>>
}

/** A gateway whose upstream begins events and leaves the rest to the test. */
async function startEvents({ limits = {}, backend = {} }: Settings = {}) {
  const server = await startRecordingUpstream()
  onTestFinished(server.close)
  const upstream: { socket?: Socket; closed?: true } = {}
  server.answerWith((socket) => {
    upstream.socket = socket
    socket.on('close', () => {
      upstream.closed = true
    })
    socket.write(eventHead)
  })
  const gateway = await startPostern({
    config: { limits, upstreams: { backend: { targets: [server.origin], ...backend } } },
  })
  return { gateway, upstream }
}

describe('events', () => {
  test('reach the client one by one, each before the next is made', async () => {
    const { gateway, upstream } = await startEvents()
    const client = await openClient(gateway.publicPort, get())
    await client.got('text/event-stream')

    for (let turn = 0; turn < 20; turn++) {
      upstream.socket?.write(chunk(`data: ${turn}.\n\n`))
      await client.got(`data: ${turn}.\n\n`)
    }
    upstream.socket?.write('0\r\n\r\n')

    await client.got('0\r\n\r\n')
    expect(client.closed()).toBe(false)
  })

  // T222
  test('outlast every limit on requests', async () => {
    const { gateway, upstream } = await startEvents({
      limits: {
        headersTimeoutMs: 100,
        requestTimeoutMs: 200,
        keepAliveTimeoutMs: 100,
        stallTimeoutMs: 100,
      },
      backend: { headersTimeoutMs: 200, queueTimeoutMs: 100 },
    })
    const client = await openClient(gateway.publicPort, get())
    await client.got('text/event-stream')

    for (let turn = 0; turn < 5; turn++) {
      await pause(500)
      upstream.socket?.write(chunk(`data: ${turn}\n\n`))
    }

    await client.got('data: 4')
    expect(client.closed()).toBe(false)
  })

  test('that do not come for too long end the connection, without an end of the answer', async () => {
    const { gateway, upstream } = await startEvents({ backend: { bodyTimeoutMs: 300 } })
    const client = await openClient(gateway.publicPort, get())
    await client.got('text/event-stream')
    upstream.socket?.write(chunk('data: 1\n\n'))

    await until(() => client.closed() && upstream.closed === true)

    expect(parseAnswers(Buffer.from(client.text(), 'latin1'))).toEqual([])
    expect(client.text()).toContain('data: 1')
    expect(gateway.logText()).toContain('"outcome":"cut-by-upstream"')
  })
})

describe('trailers of an answer', () => {
  /** Name and value of each: the name. */
  const trailing = (names: readonly string[]) =>
    [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/grpc\r\n\r\n',
      `5\r\nhello\r\n0\r\n${names.map((name) => `${name}: ${name}\r\n`).join('')}\r\n`,
    ].join('')

  test('of a gRPC call may have any name but those of connection and identity', async () => {
    const common = ['grpc-status', 'retry-after', 'link', 'set-cookie', 'location', 'content-md5']
    const withheld = [
      ...['connection', 'keep-alive', 'te', 'trailer', 'upgrade', 'proxy-connection', 'host'],
      ...['x-user-id', 'X-Role-Key', 'X-Postern-Assertion', 'x-postern-other'],
    ]
    const postern = await startPostern()
    postern.upstream.answerWith((socket) => socket.write(trailing([...common, ...withheld])))
    const namesFor = async (type: string) => {
      const headers = ['TE: trailers', `Content-Type: ${type}`, 'Content-Length: 0']
      const token = `Authorization: Bearer ${tokenOf('admin')}`
      const bytes = request('POST /api/v1/public/a', [token, ...headers])
      const { answers } = await sendRaw(postern.publicPort, bytes)
      return answers[0]?.trailers.map(([name]) => name)
    }

    expect(await namesFor('application/grpc')).toEqual(common)
    expect(await namesFor('application/grpc+proto; x=y')).toEqual(common)
    // Elsewhere a client may merge them into the headers (RFC 9110 6.5.1).
    expect(await namesFor('application/json')).toEqual(['grpc-status'])
  })

  const answer = [
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Checksum, Set-Cookie, X-User-Id',
    '\r\n\r\n5\r\nhello\r\n0\r\nX-Checksum: abc\r\nX-Checksum: def\r\nSet-Cookie: a=1\r\n',
    'Content-Type: text/html\r\nX-User-Id: 1\r\nAccess-Control-Allow-Origin: *',
    '\r\n__proto__: x\r\n\r\n',
  ].join('')

  test('reach a client that takes them, save those that only headers may say', async () => {
    const postern = await startPostern()
    postern.upstream.answerWith((socket) => socket.write(answer))

    const { answers } = await sendRaw(postern.publicPort, get('TE: gzip;q=0.5, Trailers'))

    expect(answers[0]?.body).toBe('hello')
    expect(answers[0]?.header('trailer')).toBe('x-checksum')
    expect(answers[0]?.trailers.filter(([name]) => name !== '__proto__')).toEqual([
      ['x-checksum', 'abc'],
      ['x-checksum', 'def'],
    ])
    expect(postern.upstream.requests[0]?.values('te')).toEqual(['trailers'])
  })

  test.each([
    ['that does not take them', [], '1.1'],
    ['of HTTP/1.0', ['TE: trailers'], '1.0'],
  ])('do not reach a client %s', async (_, headers, version) => {
    const postern = await startPostern()
    postern.upstream.answerWith((socket) => socket.write(answer))

    const { answers } = await sendRaw(
      postern.publicPort,
      get(...headers).replace('HTTP/1.1', `HTTP/${version}`),
    )

    expect(answers[0]?.body).toBe('hello')
    expect(answers[0]?.trailers).toEqual([])
    expect(answers[0]?.header('trailer')).toBeUndefined()
    expect(postern.upstream.requests[0]?.values('te')).toEqual([])
  })

  // T202: an announcement without chunks ended the process of another stack.
  test.each([
    ['with a length', 'Content-Length: 2\r\nTrailer: X-Late\r\n\r\nok', 'GET'],
    ['to HEAD', 'Transfer-Encoding: chunked\r\nTrailer: X-Late\r\n\r\n', 'HEAD'],
  ])('that are announced %s change nothing', async (_, rest, method) => {
    const postern = await startPostern({ rules: [`editor, ${path}, *`] })
    postern.upstream.answerWith((socket) => socket.write(`HTTP/1.1 200 OK\r\n${rest}`))
    const bytes = get('TE: trailers').replace('GET', method)

    const { answers } = await sendRaw(postern.publicPort, bytes, { bodiless: method === 'HEAD' })

    expect(answers.map((one) => [one.status, one.header('trailer')])).toEqual([[200, undefined]])
  })
})

describe('an answer without a body', () => {
  const rules = [`editor, ${path}, *`]

  test.each([
    ['HEAD with a length', 'HEAD', '200 OK', 'Content-Length: 5', '5'],
    ['HEAD in chunks', 'HEAD', '200 OK', 'Transfer-Encoding: chunked', undefined],
    ['204', 'GET', '204 No Content', 'X-A: b', undefined],
    [
      '304 with the length of what it did not send',
      'GET',
      '304 Not Modified',
      'Content-Length: 7',
      '7',
    ],
  ])('stays one: %s', async (_, method, status, header, length) => {
    const postern = await startPostern({ rules })
    postern.upstream.answerWith((socket) => socket.write(`HTTP/1.1 ${status}\r\n${header}\r\n\r\n`))
    const bytes = get().replace('GET', method)

    const { answers, bytes: got } = await sendRaw(postern.publicPort, [bytes, bytes], {
      expected: 2,
      bodiless: true,
    })

    expect(answers.map((one) => [one.status, one.header('content-length')])).toEqual([
      [Number(status.slice(0, 3)), length],
      [Number(status.slice(0, 3)), length],
    ])
    expect(got.toString('latin1').endsWith('\r\n\r\n')).toBe(true)
  })

  // T204: what does not belong there must be neither relayed nor read as the next answer.
  test.each([
    ['HEAD', 'HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'],
    ['204', 'GET', 'HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nevil'],
    [
      '204 in chunks',
      'GET',
      'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n',
    ],
    ['304', 'GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\nevil'],
    [
      '204 with an answer inside',
      'GET',
      `HTTP/1.1 204 No Content\r\n\r\n${ok.replace('true', '"evil"')}`,
    ],
  ])('with one all the same does not pass it on: %s', async (_, method, bytes) => {
    const postern = await startPostern({ rules })
    postern.upstream.answerWith((socket) => socket.write(bytes))
    const first = await sendRaw(postern.publicPort, get().replace('GET', method), {
      bodiless: true,
    })
    postern.upstream.answerWith((socket) => socket.write(ok))
    const next = await sendRaw(postern.publicPort, get())

    expect(first.answers).toHaveLength(1)
    expect(first.bytes.toString('latin1') + next.bytes.toString('latin1')).not.toContain('evil')
    expect(next.answers.map((one) => one.json())).toEqual([{ ok: true }])
  })
})

describe('a body', () => {
  test('that is compressed passes byte for byte, with its length and coding', async () => {
    const postern = await startPostern()
    const packed = gzipSync('{"a":1}'.repeat(1000))
    postern.upstream.answerWith((socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`,
      )
      socket.write(packed)
    })

    const { answers } = await sendRaw(postern.publicPort, get('Accept-Encoding: br'))

    expect(Buffer.from(answers[0]?.body ?? '', 'latin1').equals(packed)).toBe(true)
    expect(answers[0]?.header('content-encoding')).toBe('gzip')
    expect(postern.upstream.requests[0]?.values('accept-encoding')).toEqual(['br'])
  })

  test('of a request in chunks arrives whole, and its trailers nowhere', async () => {
    const postern = await startPostern()
    const body = '3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\nX-User-Id: 1\r\nX-Late: yes\r\n\r\n'

    await sendRaw(postern.publicPort, post(['Transfer-Encoding: chunked', 'Trailer: X-Late'], body))

    const [sent] = postern.upstream.requests
    expect([sent?.body, sent?.trailers]).toEqual(['abcdefg', []])
    expect(sent?.values('x-user-id')).toEqual(['42'])
    expect([sent?.values('trailer'), sent?.values('x-late')]).toEqual([[], []])
  })

  test('from a server of HTTP/1.0 that ends with its connection is whole', async () => {
    const postern = await startPostern()
    postern.upstream.answerWith((socket) => socket.end('HTTP/1.0 200 OK\r\nX-A: b\r\n\r\nhello'))

    const { answers } = await sendRaw(postern.publicPort, [get(), get()], { expected: 2 })

    expect(answers.map(({ body }) => body)).toEqual(['hello', 'hello'])
  })

  test('to a client of HTTP/1.0 has no chunks and ends with the connection', async () => {
    const postern = await startPostern()
    postern.upstream.answerWith((socket) => socket.write(`${eventHead}${chunk('hello')}0\r\n\r\n`))

    const { answers, closed } = await sendRaw(
      postern.publicPort,
      get().replace('HTTP/1.1', 'HTTP/1.0'),
    )

    expect(answers.map((one) => [one.body, one.header('transfer-encoding')])).toEqual([
      ['hello', undefined],
    ])
    expect(closed).toBe(true)
  })
})

describe('a header of an answer', () => {
  test('keeps its bytes, whatever script they are in', async () => {
    const postern = await startPostern()
    const name = Buffer.from('filename="订单.pdf"; ä').toString('latin1')
    postern.upstream.answerWith((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nX-Name: ${name}\r\nContent-Length: 0\r\n\r\n`, 'latin1'),
    )

    const { answers } = await sendRaw(postern.publicPort, get())

    expect(answers[0]?.header('x-name')).toBe(name)
  })
})

describe('an interim answer', () => {
  test('of the upstream stays behind, and the final one passes', async () => {
    const postern = await startPostern()
    const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n'
    postern.upstream.answerWith((socket) => socket.write(hints + hints + ok))

    const { bytes, answers } = await sendRaw(postern.publicPort, [get(), get()], { expected: 2 })

    expect(bytes.toString('latin1')).not.toMatch(/103|preload/)
    expect(answers.map((one) => one.json())).toEqual([{ ok: true }, { ok: true }])
  })

  test('may come as often as there is time for, and as long as they are short', async () => {
    const postern = await startPostern()
    postern.upstream.answerWith((socket) => {
      for (let turn = 0; turn < 1000; turn++) socket.write('HTTP/1.1 102 Processing\r\n\r\n')
      socket.write(ok)
    })

    const { answers } = await sendRaw(postern.publicPort, [get(), get()], { expected: 2 })

    expect(answers.map((one) => one.json())).toEqual([{ ok: true }, { ok: true }])
  })

  test('is one of too many: 502 after 64 KiB', async () => {
    const postern = await startPostern()
    const hints = `HTTP/1.1 103 Early Hints\r\nLink: </${'a'.repeat(1000)}>\r\n\r\n`
    postern.upstream.answerWith((socket) => socket.write(hints.repeat(64) + ok))

    const { answers } = await sendRaw(postern.publicPort, get())

    expect(answers.map(({ status }) => status)).toEqual([502])
    expect(postern.logText()).toContain('more than 64 KiB of interim responses')
  })

  test('again and again is no answer: 504 after the time for one', async () => {
    const postern = await startPostern()
    const patient = await startPostern({
      config: {
        upstreams: { backend: { targets: [postern.upstream.origin], headersTimeoutMs: 600 } },
      },
    })
    let closed = false
    postern.upstream.answerWith((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 50)
      socket.on('close', () => {
        closed = true
        clearInterval(timer)
      })
    })

    const { answers } = await sendRaw(patient.publicPort, get(), { quietMs: 60_000 })

    expect(answers.map(({ status }) => status)).toEqual([504])
    await until(() => closed)
  })
})

// T213
describe('the connection of a client', () => {
  test.each([
    ['is closed when the client says so', get('Connection: close'), 'keep-alive', true],
    ['is kept although the upstream closes its own', get(), 'close', false],
    ['is closed after HTTP/1.0', get().replace('HTTP/1.1', 'HTTP/1.0'), 'keep-alive', true],
  ])('%s', async (_, bytes, connection, closes) => {
    const postern = await startPostern()
    postern.upstream.answerWith((socket) =>
      socket.write(ok.replace('\r\n', `\r\nConnection: ${connection}\r\n`)),
    )

    const { answers, closed } = await sendRaw(postern.publicPort, bytes)

    expect(answers.map((one) => [one.json(), one.header('connection')])).toEqual([
      [{ ok: true }, closes ? 'close' : 'keep-alive'],
    ])
    expect(closed).toBe(closes)
  })
})
