import { expect, test } from 'vitest'
import { ErrorCode } from '../../src/h2/error-codes.ts'
import { FrameType } from '../../src/h2/frames.ts'
import { Decoder } from '../../src/h2/hpack/decoder.ts'
import {
  block,
  data,
  endHeaders,
  endStream,
  type Fields,
  frame,
  get,
  goaway,
  greeting,
  headers,
  padded,
  ping,
  post,
  priority,
  priorityFlag,
  RawPeer,
  rst,
  server,
  settings,
  settingsAck,
  windowUpdate,
} from './raw-peer.ts'

const { protocolError, streamClosed, flowControlError, frameSizeError, refusedStream } = ErrorCode

function decoded(payload: Buffer): string[] {
  const { fields } = new Decoder({ headerBytes: 65_536, headerCount: 100 }).decode(payload)
  return fields.map(({ name, value }) => `${name}: ${value}`)
}

test('the greeting: settings, the window of the connection, and an acknowledgment', () => {
  const peer = new RawPeer('server')
  peer.send(greeting.subarray(0, 10)).send(greeting.subarray(10))
  expect(peer.settingsSeen).toBe(1)
  expect(peer.sent().map(({ type, flags }) => [type, flags])).toEqual([[FrameType.settings, 1]])
})

test.each([
  ['another preface', Buffer.from('GET / HTTP/1.1\r\n\r\n'), protocolError],
  ['no SETTINGS', Buffer.concat([greeting.subarray(0, 24), ping()]), protocolError],
  [
    'an acknowledgment first',
    Buffer.concat([greeting.subarray(0, 24), settingsAck]),
    protocolError,
  ],
  [
    'a frame that is too long',
    Buffer.concat([greeting, frame(0, 0, 1, Buffer.alloc(16_385))]),
    frameSizeError,
  ],
])('a connection with %s ends', (_, bytes, code) => {
  const peer = new RawPeer('server')
  peer.send(bytes)
  expect(peer.error).toBe(code)
  expect(peer.ends).toHaveLength(1)
})

test('a request byte by byte is one request', () => {
  const peer = server()
  for (const byte of Buffer.concat([headers(1, post, endHeaders), data(1, 'body', endStream)])) {
    peer.send(Buffer.from([byte]))
  }
  expect(peer.streams).toMatchObject([{ body: 'body', trailers: [], fields: { method: 'POST' } }])
})

/** A stream in each state of RFC 9113 5.1, by its number. */
function inEachState(): RawPeer {
  const peer = server()
  peer.onRequest = (stream) => {
    if (stream.id === 7) stream.sendHeaders([':status', '204'], true)
    if (stream.id === 9) stream.reset(ErrorCode.cancel, 'test')
  }
  peer.send(
    headers(3, post, endHeaders), // open
    headers(5, get), // half-closed by the peer
    headers(7, get), // closed
    headers(9, post, endHeaders), // closed by our reset
    headers(11, get),
    rst(11), // closed by a reset of the peer
  )
  // 1 was skipped; 13 and 2 are idle.
  return peer
}

const trailers: Fields = [['x-sum', '1']]
const none = undefined
/** What the connection ends with, or with which code the stream is reset. */
test.each<[string, (id: number) => Buffer, Record<number, number | [reset: number] | undefined>]>([
  [
    'DATA',
    (id) => data(id, 'x'),
    {
      0: protocolError,
      1: protocolError,
      2: protocolError,
      3: none,
      5: [streamClosed],
      7: streamClosed,
      9: none,
      11: streamClosed,
      13: protocolError,
    },
  ],
  [
    'HEADERS',
    (id) => headers(id, trailers),
    {
      0: protocolError,
      1: protocolError,
      2: protocolError,
      3: none,
      5: [streamClosed],
      7: streamClosed,
      9: none,
      11: streamClosed,
      13: [protocolError],
      14: protocolError,
    },
  ],
  [
    'PRIORITY',
    (id) => priority(id, 21),
    { 0: protocolError, 1: none, 3: none, 5: none, 7: none, 9: none, 11: none, 13: none },
  ],
  ['PRIORITY on itself', (id) => priority(id, id), { 3: [protocolError], 5: [protocolError] }],
  [
    'a short PRIORITY',
    (id) => priority(id, 21, 4),
    { 3: [frameSizeError], 5: [frameSizeError], 13: frameSizeError },
  ],
  [
    'RST_STREAM',
    (id) => rst(id),
    {
      0: protocolError,
      2: protocolError,
      3: none,
      5: none,
      7: none,
      9: none,
      11: none,
      13: protocolError,
    },
  ],
  [
    'a short RST_STREAM',
    (id) => frame(FrameType.rstStream, 0, id, Buffer.alloc(3)),
    { 3: frameSizeError },
  ],
  ['SETTINGS', (id) => frame(FrameType.settings, 0, id), { 0: none, 3: protocolError }],
  [
    'PUSH_PROMISE',
    (id) => frame(FrameType.pushPromise, endHeaders, id, Buffer.alloc(4)),
    { 0: protocolError, 3: protocolError },
  ],
  ['PING', (id) => frame(FrameType.ping, 0, id, Buffer.alloc(8)), { 0: none, 3: protocolError }],
  [
    'GOAWAY',
    (id) => frame(FrameType.goaway, 0, id, Buffer.alloc(8)),
    { 0: none, 3: protocolError },
  ],
  [
    'WINDOW_UPDATE',
    (id) => windowUpdate(id, 1),
    {
      0: none,
      1: none,
      2: protocolError,
      3: none,
      5: none,
      7: none,
      9: none,
      11: none,
      13: protocolError,
    },
  ],
  [
    'WINDOW_UPDATE of 0',
    (id) => windowUpdate(id, 0),
    { 0: protocolError, 3: [protocolError], 5: [protocolError], 7: none, 9: none },
  ],
  [
    'a short WINDOW_UPDATE',
    (id) => frame(FrameType.windowUpdate, 0, id, Buffer.alloc(3)),
    { 0: frameSizeError, 3: frameSizeError },
  ],
  [
    'CONTINUATION',
    (id) => frame(FrameType.continuation, endHeaders, id),
    { 0: protocolError, 3: protocolError, 13: protocolError },
  ],
  [
    'a frame of an unknown type',
    (id) => frame(0xbb, 0xff, id, Buffer.from('?')),
    { 0: none, 3: none, 7: none, 13: none },
  ],
])('%s is handled by the state of its stream', (_, make, expected) => {
  for (const [id, result] of Object.entries(expected)) {
    const peer = inEachState()
    peer.sent()
    peer.send(make(Number(id)))
    const resets = peer.resets()
    if (Array.isArray(result)) {
      expect.soft(peer.error, id).toBeUndefined()
      expect.soft(resets, id).toEqual([[Number(id), result[0]]])
    } else {
      expect.soft(peer.error, id).toBe(result)
      expect.soft(resets, id).toEqual([])
    }
    for (const { closed } of peer.streams) expect(closed.length).toBeLessThanOrEqual(1)
  }
})

test.each([
  ['PING of 7 bytes', frame(FrameType.ping, 0, 0, Buffer.alloc(7)), frameSizeError],
  ['GOAWAY of 7 bytes', frame(FrameType.goaway, 0, 0, Buffer.alloc(7)), frameSizeError],
  ['SETTINGS of 5 bytes', frame(FrameType.settings, 0, 0, Buffer.alloc(5)), frameSizeError],
  [
    'an acknowledgment with settings',
    frame(FrameType.settings, 1, 0, Buffer.alloc(6)),
    frameSizeError,
  ],
  ['ENABLE_PUSH of 2', settings([2, 2]), protocolError],
  ['a window above the most', settings([4, 2 ** 31]), flowControlError],
  ['MAX_FRAME_SIZE too small', settings([5, 16_383]), protocolError],
  ['MAX_FRAME_SIZE too large', settings([5, 2 ** 24]), protocolError],
  [
    'padding longer than its DATA',
    frame(FrameType.data, padded, 3, Buffer.from([2, 0])),
    protocolError,
  ],
  ['padded DATA without a length', frame(FrameType.data, padded, 3), frameSizeError],
  [
    'padding longer than its HEADERS',
    frame(FrameType.headers, padded | endHeaders, 13, Buffer.from([9, 0])),
    protocolError,
  ],
  [
    'HEADERS too short for a priority',
    frame(FrameType.headers, priorityFlag | endHeaders, 13, Buffer.alloc(4)),
    frameSizeError,
  ],
  [
    'HEADERS that depend on themselves',
    frame(FrameType.headers, priorityFlag | endHeaders, 13, Buffer.from([0, 0, 0, 13, 0])),
    protocolError,
  ],
  ['a frame inside a header block', Buffer.concat([headers(13, get, 0), ping()]), protocolError],
  [
    'a block continued for another stream',
    Buffer.concat([headers(13, get, 0), frame(FrameType.continuation, endHeaders, 15)]),
    protocolError,
  ],
  ['a window of the connection above the most', windowUpdate(0, 2 ** 31 - 1), flowControlError],
  [
    'a window of a stream above the most through SETTINGS',
    Buffer.concat([windowUpdate(3, 2 ** 30), settings([4, 2 ** 31 - 1])]),
    flowControlError,
  ],
  [
    'a block that cannot be decompressed',
    frame(FrameType.headers, endHeaders, 13, Buffer.from([0x80])),
    ErrorCode.compressionError,
  ],
])('%s ends the connection', (_, bytes, code) => {
  const peer = inEachState()
  peer.sent()
  peer.send(bytes)
  expect(peer.error).toBe(code)
  const last = peer.sent().at(-1)
  expect([last?.type, last?.payload.readUInt32BE(4)]).toEqual([FrameType.goaway, code])
  for (const { closed } of peer.streams) expect(closed).toHaveLength(1)
})

test.each<[string, Fields, string]>([
  ['CR in a value', [...get, ['x', 'a\rb']], 'invalid character in a header value'],
  ['LF in a value', [...get, ['x', 'a\nb']], 'invalid character in a header value'],
  ['NUL in a value', [...get, ['x', 'a\0b']], 'invalid character in a header value'],
  [
    'CR in :path',
    [...get.slice(0, 3), [':path', '/\r\nx: y']],
    'invalid character in a header value',
  ],
  ['white space before a value', [...get, ['x', ' a']], 'white space around a header value'],
  ['white space after a value', [...get, ['x', 'a\t']], 'white space around a header value'],
  ['an upper-case name', [...get, ['X-Name', 'a']], 'invalid header name'],
  ['a name with a space', [...get, ['x y', 'a']], 'invalid header name'],
  ['a name with a colon', [...get, ['x:y', 'a']], 'invalid header name'],
  ['an empty name', [...get, ['', 'a']], 'invalid header name'],
  ['Connection', [...get, ['connection', 'close']], 'connection is not for HTTP/2'],
  ['Keep-Alive', [...get, ['keep-alive', '5']], 'keep-alive is not for HTTP/2'],
  [
    'Transfer-Encoding',
    [...get, ['transfer-encoding', 'chunked']],
    'transfer-encoding is not for HTTP/2',
  ],
  ['Upgrade', [...get, ['upgrade', 'websocket']], 'upgrade is not for HTTP/2'],
  ['Proxy-Connection', [...get, ['proxy-connection', 'x']], 'proxy-connection is not for HTTP/2'],
  ['TE: gzip', [...get, ['te', 'gzip']], 'TE may only be "trailers"'],
  ['no :method', get.slice(1), 'no method'],
  ['an invalid :method', [[':method', 'GE T'], ...get.slice(1)], 'no method'],
  ['two :method', [...get.slice(0, 1), ...get], 'two :method pseudo-headers'],
  ['no :scheme', [...get.slice(0, 1), ...get.slice(2)], 'invalid :scheme'],
  ['no :path', get.slice(0, 3), 'invalid :path'],
  ['an empty :path', [...get.slice(0, 3), [':path', '']], 'invalid :path'],
  ['a URL as :path', [...get.slice(0, 3), [':path', 'http://other.example/']], 'invalid :path'],
  ['* with GET', [...get.slice(0, 3), [':path', '*']], 'invalid :path'],
  ['a space in :path', [...get.slice(0, 3), [':path', '/ HTTP/1.1']], 'invalid :path'],
  ['an unknown pseudo-header', [...get, [':protocol', 'websocket']], 'unknown pseudo-header'],
  [':status', [...get, [':status', '200']], 'unknown pseudo-header'],
  [
    'a pseudo-header after a header',
    [...get.slice(0, 3), ['x', 'y'], ...get.slice(3)],
    'pseudo-header after a header',
  ],
  [
    'a pseudo-header after Host',
    [...get.slice(0, 3), ['host', 'app.example'], ...get.slice(3)],
    'pseudo-header after a header',
  ],
  [
    'another Host than :authority',
    [...get, ['host', 'other.example']],
    ':authority and Host differ',
  ],
  ['two Hosts', [...get, ['host', 'app.example'], ['host', 'app.example']], 'two Host headers'],
  [
    'a user in :authority',
    [...get.slice(0, 2), [':authority', 'me@app.example'], ...get.slice(3)],
    'invalid :authority',
  ],
  [
    'a path in :authority',
    [...get.slice(0, 2), [':authority', 'app.example/a'], ...get.slice(3)],
    'invalid :authority',
  ],
  ['a negative Content-Length', [...get, ['content-length', '-1']], 'invalid Content-Length'],
  ['a Content-Length as a list', [...get, ['content-length', '1, 1']], 'invalid Content-Length'],
  [
    'two Content-Lengths',
    [...get, ['content-length', '0'], ['content-length', '0']],
    'invalid Content-Length',
  ],
  [
    'a Content-Length and no body',
    [...get, ['content-length', '1']],
    'body length differs from Content-Length',
  ],
  ['CONNECT with a path', [[':method', 'CONNECT'], ...get.slice(1)], 'malformed CONNECT'],
])('a request with %s is reset and reported', (_, fields, details) => {
  const peer = server()
  peer.send(headers(1, fields))
  expect(peer.rejected).toEqual([['malformed', details]])
  expect(peer.resets()).toEqual([[1, protocolError]])
  expect(peer.streams).toEqual([])
  // The connection goes on.
  peer.send(headers(3, get))
  expect(peer.streams).toHaveLength(1)
})

test.each<[string, Fields, object]>([
  [
    'crumbs of a cookie are joined',
    [...get, ['cookie', 'a=1'], ['x', 'y'], ['cookie', 'b=2']],
    { headers: ['cookie', 'a=1; b=2', 'x', 'y'] },
  ],
  [
    'Host is the host if there is no :authority',
    [...get.slice(0, 2), ...get.slice(3), ['host', 'app.example']],
    { host: 'app.example', headers: [] },
  ],
  [
    'Host and :authority may differ in case',
    [...get, ['host', 'APP.example']],
    { host: 'app.example' },
  ],
  ['a request may name no host', [...get.slice(0, 2), ...get.slice(3)], { host: undefined }],
  [
    'OPTIONS of the whole server',
    [[':method', 'OPTIONS'], ...get.slice(1, 3), [':path', '*']],
    { path: '*' },
  ],
  ['TE: trailers', [...get, ['te', 'trailers']], { headers: ['te', 'trailers'] }],
  ['bytes above ASCII are kept', [...get, ['x', 'caf\xe9']], { headers: ['x', 'caf\xe9'] }],
  [
    'CONNECT has neither scheme nor path',
    [
      [':method', 'CONNECT'],
      [':authority', 'db.example:5432'],
    ],
    { method: 'CONNECT', scheme: '', path: '', host: 'db.example:5432' },
  ],
])('%s', (_, fields, expected) => {
  const peer = server()
  peer.send(headers(1, fields))
  expect(peer.streams).toMatchObject([{ fields: expected }])
})

const sized: Fields = [...post, ['content-length', '5']]

test.each<[string, Buffer[], string]>([
  ['longer than its Content-Length', [data(1, 'abcdef', endStream)], ''],
  ['longer, in two frames', [data(1, 'abc'), data(1, 'def')], 'abc'],
  ['shorter', [data(1, 'abc', endStream)], ''],
  ['shorter, with an empty last frame', [data(1, 'abc'), data(1, '', endStream)], 'abc'],
  ['shorter, with trailers', [data(1, 'abc'), headers(1, trailers)], 'abc'],
])('a body %s resets the stream and never ends', (_, frames, body) => {
  const peer = server()
  peer.send(headers(1, sized, endHeaders))
  peer.send(...frames)
  expect(peer.resets()).toEqual([[1, protocolError]])
  expect(peer.streams).toMatchObject([{ body, trailers: undefined }])
  expect(peer.streams[0]?.closed).toMatchObject([{ by: 'peer', code: protocolError }])
})

test('a body of its Content-Length ends, with padding and trailers', () => {
  const peer = server()
  peer.send(
    headers(1, sized, endHeaders),
    frame(FrameType.data, padded, 1, Buffer.from('\x03abc\0\0\0', 'latin1')),
    data(1, 'de'),
    headers(1, trailers),
  )
  expect(peer.streams).toMatchObject([{ body: 'abcde', trailers: ['x-sum', '1'], closed: [] }])
})

test.each<[string, Buffer]>([
  ['that do not end the stream', headers(1, trailers, endHeaders)],
  ['with a pseudo-header', headers(1, [[':path', '/other']])],
  ['with an upper-case name', headers(1, [['X-Sum', '1']])],
  ['with LF', headers(1, [['x', 'a\nb']])],
  ['with Transfer-Encoding', headers(1, [['transfer-encoding', 'chunked']])],
  ['with Content-Length', headers(1, [['content-length', '3']])],
  ['with Host', headers(1, [['host', 'other.example']])],
  [
    'that are too large',
    headers(1, [
      ['x', 'y'.repeat(16_000)],
      ['z', 'y'.repeat(360)],
    ]),
  ],
])('trailers %s reset the stream', (_, bytes) => {
  const peer = server()
  peer.send(headers(1, post, endHeaders), data(1, 'abc'))
  peer.send(bytes)
  expect(peer.resets()).toEqual([[1, protocolError]])
  expect(peer.streams).toMatchObject([{ body: 'abc', trailers: undefined }])
  expect(peer.error).toBeUndefined()
})

test.each([
  ['one field', [...get, ['x', 'y'.repeat(16_000)]] as Fields, endStream | endHeaders],
  [
    'many fields',
    [...get, ...Array.from({ length: 97 }, (): [string, string] => ['x', 'y'])] as Fields,
    endStream | endHeaders,
  ],
  ['a request with a body', [...get, ['x', 'y'.repeat(16_000)]] as Fields, endHeaders],
])('a header section that is too large is answered with 431: %s', (_, fields, flags) => {
  const peer = server({ headerBytes: 8192 })
  peer.send(headers(1, fields, flags))
  const [head, asked] = peer.sent()
  expect([head?.type, head?.flags]).toEqual([FrameType.headers, endHeaders | endStream])
  expect(decoded(head?.payload ?? Buffer.alloc(0))).toContain(':status: 431')
  expect(asked?.type).toBe(flags === endHeaders ? FrameType.ping : undefined)
  expect(peer.rejected).toEqual([['too-large', 'header section is too large']])
  if (flags === endHeaders) peer.send(data(1, 'late', endStream))
  peer.send(headers(3, get))
  expect(peer.streams).toHaveLength(1)
  expect(peer.error).toBeUndefined()
})

test('a header block in many frames is one block', () => {
  const peer = server()
  const bytes = block([...get, ['x', 'y'.repeat(600)]])
  const parts = Array.from({ length: 20 }, (_, at) => bytes.subarray(at * 40, at * 40 + 40))
  peer.send(
    frame(FrameType.headers, endStream, 1, parts[0]),
    ...parts.slice(1, 19).map((part) => frame(FrameType.continuation, 0, 1, part)),
    frame(FrameType.continuation, endHeaders, 1, parts[19]),
  )
  expect(peer.streams).toMatchObject([
    { fields: { headers: ['x', 'y'.repeat(600)] }, trailers: [] },
  ])
})

test('streams above the limit are refused, and may be sent again', () => {
  const peer = server({ maxStreams: 2 })
  peer.send(headers(1, get), headers(3, get), headers(5, get))
  expect(peer.resets()).toEqual([[5, refusedStream]])
  expect(peer.rejected).toEqual([['refused', 'too many streams']])
  peer.streams[0]?.stream.sendHeaders([':status', '204'], true)
  peer.send(headers(7, get))
  expect(peer.streams.map(({ stream }) => stream.id)).toEqual([1, 3, 7])
})

test('a stream that ends while its request is delivered reports it once', () => {
  const peer = server()
  peer.onRequest = (stream, { path }) => {
    if (path === '/reset') stream.reset(ErrorCode.cancel, 'test')
    else stream.sendHeaders([':status', '204'], true)
  }
  peer.send(headers(1, get), headers(3, [...get.slice(0, 3), [':path', '/reset']]))
  expect(peer.streams.map(({ closed }) => closed)).toMatchObject([
    [undefined],
    [{ by: 'us', code: ErrorCode.cancel }],
  ])
  expect(peer.session.size).toBe(0)
  expect(peer.idle).toEqual([false, true])
})

test('PING is answered with its payload, and ours with the call', () => {
  const peer = server()
  peer.send(ping())
  expect(peer.sent()).toMatchObject([
    { type: FrameType.ping, flags: 1, payload: Buffer.from('pingpong') },
  ])
  let answers = 0
  peer.session.ping(() => answers++)
  expect(peer.sent()).toMatchObject([{ type: FrameType.ping, flags: 0 }])
  peer.send(ping(1), ping(1))
  expect(answers).toBe(1)
})

test('shutdown is announced, then begins, and ends after the last stream', () => {
  const peer = server()
  peer.send(headers(1, get))
  peer.session.announceShutdown()
  expect(peer.sent()).toMatchObject([
    { type: FrameType.goaway, payload: Buffer.from('7fffffff00000000', 'hex') },
  ])
  peer.send(headers(3, get))
  peer.session.shutDown()
  expect(peer.sent()).toMatchObject([
    { type: FrameType.goaway, payload: Buffer.from('0000000300000000', 'hex') },
  ])
  // Too late: neither served nor answered, and the client may send it again elsewhere.
  peer.send(headers(5, post, endHeaders), data(5, 'x', endStream))
  expect(peer.streams).toHaveLength(2)
  expect(peer.sent()).toEqual([])
  for (const { stream } of peer.streams) {
    expect(peer.ends).toEqual([])
    stream.sendHeaders([':status', '204'], true)
  }
  expect(peer.ends).toMatchObject([{ code: ErrorCode.noError, flood: undefined }])
})

test('the last stream of a GOAWAY never grows', () => {
  const peer = server()
  peer.send(headers(1, get))
  peer.session.shutDown()
  peer.sent()
  peer.send(headers(3, get), frame(FrameType.ping, 0, 1, Buffer.alloc(8)))
  expect(peer.sent()).toMatchObject([
    { type: FrameType.goaway, payload: Buffer.from('0000000100000001', 'hex') },
  ])
})

test('after GOAWAY of the client its streams are served to their end', () => {
  const peer = server()
  peer.send(headers(1, get), goaway(0))
  expect(peer.goaways).toEqual([[0, 0]])
  expect(peer.ends).toEqual([])
  peer.streams[0]?.stream.sendHeaders([':status', '204'], true)
  expect(peer.ends).toHaveLength(1)
})

test('a connection that breaks closes every stream once', () => {
  const peer = server()
  peer.send(headers(1, get), headers(3, post, endHeaders))
  peer.session.disconnected('closed')
  peer.session.disconnected('closed')
  peer.send(headers(5, get))
  expect(peer.streams.map(({ closed }) => closed)).toMatchObject([
    [{ by: 'connection' }],
    [{ by: 'connection' }],
  ])
  expect(peer.ends).toHaveLength(1)
})

test('only what does not move on is unfinished', () => {
  const peer = server()
  expect(peer.session.unfinishedSince).toBeUndefined()
  // A part of a body may come slowly: its own timeout and minimum rate apply.
  const upload = Buffer.concat([headers(1, post, endHeaders), data(1, 'a'.repeat(100))])
  peer.send(upload.subarray(0, -50))
  expect(peer.session.unfinishedSince).toBeUndefined()
  // Nobody needs long for the header of a frame.
  peer.send(upload.subarray(-50), data(1, 'b').subarray(0, 5))
  const first = peer.session.unfinishedSince as number
  expect(first).toBeTypeOf('number')
  while (performance.now() === first);
  peer.send(data(1, 'b').subarray(5, 8))
  expect(peer.session.unfinishedSince).toBe(first)
  peer.send(data(1, 'b').subarray(8))
  expect(peer.session.unfinishedSince).toBeUndefined()
  // A header block is unfinished until its last frame.
  peer.send(headers(3, get, 0))
  const third = peer.session.unfinishedSince as number
  while (performance.now() === third);
  peer.send(frame(FrameType.continuation, 0, 3))
  expect(peer.session.unfinishedSince).toBe(third)
  peer.send(frame(FrameType.continuation, endHeaders, 3))
  expect(peer.session.unfinishedSince).toBeUndefined()
})
