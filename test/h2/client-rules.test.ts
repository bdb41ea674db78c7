import { describe, expect, test } from 'vitest'
import { ErrorCode } from '../../src/h2/error-codes.ts'
import { FrameType } from '../../src/h2/frames.ts'
import {
  client,
  data,
  endHeaders,
  endStream,
  type Fields,
  frame,
  goaway,
  headers,
  ping,
  RawPeer,
  rst,
  settings,
} from './raw-peer.ts'

const request = [':method', 'GET', ':scheme', 'http', ':authority', 'app.example', ':path', '/']
const ok: Fields = [[':status', '200']]
const { protocolError } = ErrorCode

test('a client forbids pushes and sends its request', () => {
  const peer = new RawPeer('client')
  peer.send(settings([3, 1]))
  expect(peer.session.peerMaxStreams).toBe(1)
  expect(peer.session.mayOpen()).toBe(true)
  peer.open(request)
  expect(peer.session.mayOpen()).toBe(false)
  expect(peer.sent().map(({ type, id, flags }) => [type, id, flags])).toEqual([
    [FrameType.settings, 0, 1],
    [FrameType.headers, 1, endHeaders | endStream],
  ])
})

test('interim responses come before the response, and trailers after it', () => {
  const peer = client()
  const seen = peer.open(request)
  peer.send(
    headers(1, [[':status', '100']], endHeaders),
    headers(
      1,
      [
        [':status', '103'],
        ['link', '</a>'],
      ],
      endHeaders,
    ),
    headers(1, [...ok, ['host', 'kept']], endHeaders),
    data(1, 'abc'),
    headers(1, [['grpc-status', '0']]),
  )
  expect(seen.heads.map(({ status }) => status)).toEqual([100, 103, 200])
  expect(seen.heads[2]?.headers).toEqual(['host', 'kept'])
  expect(seen).toMatchObject({ body: 'abc', trailers: ['grpc-status', '0'], closed: [undefined] })
})

test.each<[string, Buffer[]]>([
  ['an interim response that ends the stream', [headers(1, [[':status', '103']])]],
  ['101', [headers(1, [[':status', '101']], endHeaders)]],
  ['no status', [headers(1, [['x', 'y']])]],
  ['a status that is no number', [headers(1, [[':status', '2x0']])]],
  ['a status of two digits', [headers(1, [[':status', '99']])]],
  ['two statuses', [headers(1, [...ok, ...ok])]],
  ['a pseudo-header of a request', [headers(1, [...ok, [':path', '/']])]],
  ['a status after a header', [headers(1, [['x', 'y'], ...ok])]],
  ['Transfer-Encoding', [headers(1, [...ok, ['transfer-encoding', 'chunked']])]],
  ['LF in a value', [headers(1, [...ok, ['x', 'a\nb']])]],
  ['data before the response', [data(1, 'x', endStream)]],
  ['a Content-Length without a body', [headers(1, [...ok, ['content-length', '1']])]],
  [
    'a body that is too short',
    [headers(1, [...ok, ['content-length', '4']], endHeaders), data(1, 'abc', endStream)],
  ],
  [
    'a body that is too long',
    [headers(1, [...ok, ['content-length', '2']], endHeaders), data(1, 'abc', endStream)],
  ],
  ['a body after 204', [headers(1, [[':status', '204']], endHeaders), data(1, 'x', endStream)]],
  [
    'trailers that do not end the stream',
    [headers(1, ok, endHeaders), headers(1, [['x', 'y']], endHeaders)],
  ],
  [
    'a header section that is too large',
    [headers(1, [...ok, ['x', 'y'.repeat(16_000)], ['z', 'y'.repeat(310)]])],
  ],
])('a response with %s fails only its own stream', (_, frames) => {
  const peer = client()
  const [first, second] = [peer.open(request), peer.open(request)]
  peer.sent()
  peer.send(...frames)
  expect(first.closed).toMatchObject([{ by: 'peer', code: protocolError, isUnprocessed: false }])
  expect(first.trailers).toBeUndefined()
  expect(peer.resets()).toEqual([[1, protocolError]])
  peer.send(headers(3, ok))
  expect(second).toMatchObject({ trailers: [], closed: [undefined] })
})

test.each<[string, Fields, boolean]>([
  ['to HEAD', [...ok, ['content-length', '5']], true],
  [
    '204',
    [
      [':status', '204'],
      ['content-length', '5'],
    ],
    false,
  ],
  [
    '304',
    [
      [':status', '304'],
      ['content-length', '5'],
    ],
    false,
  ],
])('a response %s ends without the body that its Content-Length names', (_, fields, bodyless) => {
  const peer = client()
  const seen = peer.open(request, true, bodyless)
  peer.send(headers(1, fields))
  expect(seen).toMatchObject({ trailers: [], closed: [undefined], heads: [{ contentLength: 5 }] })
})

test('a reset in the middle of a response is an abort', () => {
  const peer = client()
  const seen = peer.open(request)
  peer.send(headers(1, ok, endHeaders), data(1, 'abc'), rst(1, ErrorCode.internalError))
  expect(seen).toMatchObject({ body: 'abc', trailers: undefined })
  expect(seen.closed).toMatchObject([
    { by: 'peer', code: ErrorCode.internalError, isUnprocessed: false },
  ])
})

describe('a response that lacks only END_STREAM', () => {
  const length: [string, string] = ['content-length', '5']
  const whole = [headers(1, [...ok, length], endHeaders), data(1, 'hello')]

  test('is complete when its stream is reset without an error', () => {
    const peer = client()
    const seen = peer.open(request)
    peer.send(...whole, rst(1, ErrorCode.noError))
    expect(seen).toMatchObject({ body: 'hello', trailers: [], closed: [undefined] })
    expect(peer.resets()).toEqual([])
  })

  test.each<[string, Buffer[]]>([
    ['with an error', [...whole, rst(1, ErrorCode.cancel)]],
    [
      'before its last byte',
      [headers(1, [...ok, length], endHeaders), data(1, 'hell'), rst(1, ErrorCode.noError)],
    ],
    [
      'without a declared length',
      [headers(1, ok, endHeaders), data(1, 'hello'), rst(1, ErrorCode.noError)],
    ],
    ['before its head', [rst(1, ErrorCode.noError)]],
  ])('is an abort when its stream is reset %s', (_, frames) => {
    const peer = client()
    const seen = peer.open(request)
    peer.send(...frames)
    expect(seen.trailers).toBeUndefined()
    expect(seen.closed).toMatchObject([{ by: 'peer' }])
  })
})

test('a refused stream was not processed', () => {
  const peer = client()
  const seen = peer.open(request)
  peer.send(rst(1, ErrorCode.refusedStream))
  expect(seen.closed).toMatchObject([{ isUnprocessed: true }])
})

test('GOAWAY: streams after its last one were not processed, the others go on', () => {
  const peer = client()
  const [first, second, third] = [peer.open(request), peer.open(request), peer.open(request)]
  peer.send(goaway(1))
  expect(first.closed).toEqual([])
  expect([second.closed, third.closed]).toMatchObject([
    [{ isUnprocessed: true }],
    [{ isUnprocessed: true }],
  ])
  expect(peer.session.isOpen).toBe(false)
  expect(peer.session.mayOpen()).toBe(false)
  peer.send(headers(1, ok))
  expect(first.closed).toEqual([undefined])
  expect(peer.ends).toMatchObject([{ code: ErrorCode.noError }])
})

test('an announced GOAWAY takes nothing from open streams', () => {
  const peer = client()
  const seen = peer.open(request)
  peer.send(goaway(2 ** 31 - 1), goaway(1))
  peer.send(headers(1, ok))
  expect(seen.closed).toEqual([undefined])
})

test.each<[string, Buffer, number]>([
  [
    'PUSH_PROMISE',
    frame(FrameType.pushPromise, endHeaders, 1, Buffer.from([0, 0, 0, 2])),
    protocolError,
  ],
  ['ENABLE_PUSH', settings([2, 1]), protocolError],
  ['a stream of the server', headers(2, ok), protocolError],
  ['a response on an idle stream', headers(5, ok), protocolError],
  ['RST_STREAM on an idle stream', rst(5), protocolError],
])('%s ends the connection of a client', (_, bytes, code) => {
  const peer = client()
  const seen = peer.open(request)
  peer.send(bytes)
  expect(peer.error).toBe(code)
  expect(seen.closed).toMatchObject([{ by: 'connection' }])
})

test('a response before the end of the request stops the request', () => {
  const peer = client()
  const seen = peer.open(request, false)
  seen.stream.write(Buffer.alloc(200_000))
  peer.sent()
  peer.send(headers(1, [[':status', '413']]))
  expect(peer.resets()).toEqual([[1, ErrorCode.noError]])
  expect(seen).toMatchObject({ heads: [{ status: 413 }], closed: [undefined] })
})

test('frames for a request that we have canceled are ignored', () => {
  const peer = client()
  const seen = peer.open(request)
  seen.stream.reset(ErrorCode.cancel, 'test')
  peer.send(
    headers(1, [[':status', '103']], endHeaders),
    headers(1, ok, endHeaders),
    data(1, 'x', endStream),
    ping(),
  )
  expect(peer.error).toBeUndefined()
  expect(seen).toMatchObject({ body: '', heads: [] })
})

test('an upstream cannot flood us either', () => {
  const peer = client()
  peer.open(request)
  for (let round = 0; round < 2000; round++) peer.send(headers(1, [[':status', '103']], endHeaders))
  expect(peer.flood).toBe('interim-response')
})
