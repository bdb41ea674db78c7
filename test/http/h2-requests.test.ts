import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { connect as connectTls } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { ErrorCode } from '../../src/h2/error-codes.ts'
import { FrameType, numberFrame, Setting, smallFrame } from '../../src/h2/frames.ts'
import { createCertificates } from '../support/certificates.ts'
import { connectFrames, data, headers, requestFields } from '../support/frame-client.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const bearer = () => ['authorization', `Bearer ${tokenOf('editor')}`] as const
const rules = ['editor, /api/*, GET', 'editor, /api/*, POST']

const startPlain = (config: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {}) =>
  startPostern({ rules, config: { ...config, application: { h2c: true } } })

/** A JSON body as it is, whatever the ID of its request. */
function withoutId(body: string): unknown {
  return { ...JSON.parse(body), requestId: undefined }
}

/** The code of the RST_STREAM for the request with these fields. */
async function resetCode(
  postern: TestPostern,
  fields: readonly (readonly [string, string])[],
): Promise<number> {
  const client = await connectFrames(postern.publicPort)
  client.send(headers(1, fields))
  return (await client.next(FrameType.rstStream, 1)).payload.readUInt32BE(0)
}

test('TLS offers HTTP/2 and HTTP/1.1, and http2: false only the latter', async () => {
  const certificates = await createCertificates('gateway.test')
  onTestFinished(certificates.remove)
  const tls = { certFile: certificates.certificate, keyFile: certificates.key }
  const ca = readFileSync(certificates.authority)
  const chosen = async ({ publicPort: port }: TestPostern, ALPNProtocols: string[]) => {
    const socket = connectTls({
      port,
      host: '127.0.0.1',
      servername: 'gateway.test',
      ca,
      ALPNProtocols,
    })
    onTestFinished(() => void socket.destroy())
    await once(socket, 'secureConnect')
    return socket.alpnProtocol
  }
  const both = await startPostern({ rules, config: { tls } })
  const old = await startPostern({ rules, config: { tls, application: { http2: false } } })

  expect(await chosen(both, ['h2', 'http/1.1'])).toBe('h2')
  expect(await chosen(both, ['http/1.1'])).toBe('http/1.1')
  expect(await chosen(old, ['h2', 'http/1.1'])).toBe('http/1.1')

  const client = connect(`https://127.0.0.1:${both.publicPort}`, { servername: 'gateway.test', ca })
  onTestFinished(() => client.destroy())
  const [name, value] = bearer()
  const stream = client.request({
    ':path': '/api/x?q=1',
    ':authority': 'gateway.test',
    [name]: value,
  })
  const [head] = await once(stream, 'response')
  expect(head[':status']).toBe(200)
  expect(both.upstream.requests[0]?.target).toBe('/api/x?q=1')
  expect(both.upstream.requests[0]?.values('x-forwarded-proto')).toEqual(['https'])
})

test('without h2c, the preface is refused', async () => {
  const postern = await startPostern({ rules })
  const client = await connectFrames(postern.publicPort)
  await client.closed()
  expect(client.frames.filter(({ type }) => type === FrameType.settings)).toEqual([])
})

test('the pipeline, its log line and its headers are the same as over HTTP/1.1', async () => {
  const postern = await startPlain()
  const client = await connectFrames(postern.publicPort)
  const forged = [
    ['x-user-id', '1'],
    ['X-Role-Key'.toLowerCase(), 'admin'],
    ['x-forwarded-for', '9.9.9.9'],
  ] as const
  client.send(
    headers(1, requestFields('GET /api/x', [bearer(), ...forged])),
    headers(3, requestFields('GET /api/x')),
    headers(5, requestFields('DELETE /api/x', [bearer()])),
    headers(7, requestFields('GET /api/%2e%2e/admin', [bearer()])),
  )

  expect(await client.fields(1)).toMatchObject({
    ':status': '200',
    'content-type': 'application/json',
  })
  const bodies = await Promise.all(
    [3, 5, 7].map(async (id) => (await client.next(FrameType.data, id)).payload.toString()),
  )
  const before = await Promise.all([
    postern.call('GET /api/x'),
    postern.call('DELETE /api/x', { as: 'editor' }),
    postern.call('GET /api/%2e%2e/admin', { as: 'editor' }),
  ])
  expect(bodies.map(withoutId)).toEqual(before.map(({ body }) => withoutId(body)))
  expect(postern.upstream.requests).toHaveLength(1)
  const [seen] = postern.upstream.requests
  expect(seen?.values('x-role-key')).toEqual(['editor'])
  expect(seen?.values('x-user-id')).not.toEqual(['1'])
  expect(seen?.values('x-forwarded-for')).toEqual(['127.0.0.1'])
  await until(() => postern.logText().includes('"not-permitted"'))
  expect(postern.logText()).toContain('"outcome":"passed"')
})

test.each([
  ['CR in a value', [['x-a', 'q\rz']]],
  ['LF in a value', [['x-a', 'q\nz']]],
  ['NUL in a value', [['x-a', 'q\0z']]],
  ['an upper-case name', [['X-A', 'q']]],
  ['a space in a name', [['x a', 'q']]],
  ['Connection', [['connection', 'close']]],
  ['Transfer-Encoding', [['transfer-encoding', 'chunked']]],
  ['Upgrade', [['upgrade', 'h2c']]],
  ['TE but trailers', [['te', 'gzip']]],
  ['another Host', [['host', 'other.test']]],
  ['a second :path', [[':path', '/api/y']]],
  ['an unknown pseudo-header', [[':x', 'y']]],
  [
    'two lengths',
    [
      ['content-length', '0'],
      ['content-length', '0'],
    ],
  ],
  ['a length without a body', [['content-length', '5']]],
] as const)('%s is a stream error, and nothing reaches the upstream', async (_, wrong) => {
  const postern = await startPlain()
  const fields = [...requestFields('GET /api/x', [bearer()]), ...wrong]

  expect(await resetCode(postern, fields)).toBe(ErrorCode.protocolError)
  expect(postern.upstream.requests).toEqual([])
})

test('a body that differs from its length resets the stream and aborts the upstream request', async () => {
  const postern = await startPlain({ limits: { bodyBytes: 1_000_000 } })
  for (const [length, sent] of [
    ['5', 'abc'],
    ['2', 'abc'],
  ] as const) {
    const client = await connectFrames(postern.publicPort)
    const fields = requestFields('POST /api/x', [bearer(), ['content-length', length]])
    client.send(
      headers(1, fields, { body: true }),
      data(1, sent, true),
      headers(3, requestFields('GET /api/ok', [bearer()])),
    )

    expect((await client.next(FrameType.rstStream, 1)).payload.readUInt32BE(0)).toBe(
      ErrorCode.protocolError,
    )
    expect(await client.fields(3)).toMatchObject({ ':status': '200' })
  }
  expect(postern.upstream.requests.map(({ line }) => line)).toEqual([
    'GET /api/ok HTTP/1.1',
    'GET /api/ok HTTP/1.1',
  ])
  await until(() => postern.logText().includes('"reason":"malformed"'))
})

test('a body that ends too early on its way to the upstream aborts the request there', async () => {
  const postern = await startPlain()
  const client = await connectFrames(postern.publicPort)
  const fields = requestFields('POST /api/x', [bearer(), ['content-length', '200000']])
  client.send(headers(1, fields, { body: true }))
  for (let sent = 0; sent < 6; sent++) client.send(data(1, Buffer.alloc(16_000), false))
  await until(() => postern.upstream.bytes() > 16_000)
  client.send(data(1, 'end', true))

  expect((await client.next(FrameType.rstStream, 1)).payload.readUInt32BE(0)).toBe(
    ErrorCode.protocolError,
  )
  await until(() => postern.upstream.connections() === 0)
  expect(postern.upstream.requests).toEqual([])
  await until(() => postern.logText().includes('"outcome":"cut-by-client"'))
})

test('a header block that never ends times out, and a body too', async () => {
  const postern = await startPlain({ limits: { headersTimeoutMs: 500, requestTimeoutMs: 700 } })
  const unfinished = await connectFrames(postern.publicPort)
  unfinished.send(smallFrame(FrameType.headers, 0, 1, Buffer.of(0)))
  await unfinished.closed()

  const slow = await connectFrames(postern.publicPort)
  const fields = requestFields('POST /api/x', [bearer(), ['content-length', '5']])
  slow.send(headers(1, fields, { body: true }), data(1, 'a', false))
  expect(JSON.parse((await slow.next(FrameType.data, 1)).payload.toString()).code).toBe(408)
})

test('of thousands of streams that are reset at once, none begins a request', async () => {
  const postern = await startPlain()
  const client = await connectFrames(postern.publicPort)
  const frames = Array.from({ length: 2000 }, (_, at) => [
    headers(2 * at + 1, requestFields('GET /api/x', [bearer()])),
    numberFrame(FrameType.rstStream, 2 * at + 1, ErrorCode.cancel),
  ]).flat()
  client.send(...frames)
  const goaway = await client.next(FrameType.goaway)

  expect(goaway.payload.readUInt32BE(4)).toBe(ErrorCode.enhanceYourCalm)
  await client.closed()
  expect(postern.upstream.requests.length).toBeLessThan(200)
  expect(postern.logText()).toContain('"reason":"flood"')
})

test('a shutdown announces itself, finishes open streams and closes the connection', async () => {
  const postern = await startPlain({ shutdown: { graceMs: 300, idleMs: 100, deadlineMs: 20_000 } })
  let answer: (() => void) | undefined
  postern.upstream.answerWith((socket) => {
    answer = () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate')
  })
  const client = await connectFrames(postern.publicPort)
  client.send(headers(1, requestFields('GET /api/x', [bearer()])))
  await until(() => answer !== undefined)
  const closed = postern.close()
  expect((await client.next(FrameType.goaway)).payload.readUInt32BE(0)).toBe(0x7fff_ffff)
  await until(() => client.frames.filter(({ type }) => type === FrameType.goaway).length === 2)
  answer?.()

  expect((await client.next(FrameType.data, 1)).payload.toString()).toBe('late')
  await client.closed()
  await closed
})

test('a broken response resets its stream, and only that', async () => {
  const postern = await startPlain()
  postern.upstream.answerWith((socket, { target }) => {
    if (target === '/api/ok') socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')
  })
  const client = await connectFrames(postern.publicPort)
  client.send(headers(1, requestFields('GET /api/cut', [bearer()])))
  expect((await client.next(FrameType.rstStream, 1)).payload.readUInt32BE(0)).toBe(
    ErrorCode.internalError,
  )
  client.send(headers(3, requestFields('GET /api/ok', [bearer()])))
  expect((await client.next(FrameType.data, 3)).payload.toString()).toBe('ok')
})

test('a client that takes no data is cut off, and others are served', async () => {
  const postern = await startPlain({ limits: { stallTimeoutMs: 1000 } })
  const client = await connectFrames(postern.publicPort, [[Setting.initialWindowSize, 0]])
  client.send(headers(1, requestFields('GET /api/x', [bearer()])))

  expect((await client.next(FrameType.rstStream, 1)).payload.readUInt32BE(0)).toBe(
    ErrorCode.internalError,
  )
})
