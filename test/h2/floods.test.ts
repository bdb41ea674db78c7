import { expect, onTestFinished, test, vi } from 'vitest'
import { ErrorCode } from '../../src/h2/error-codes.ts'
import { FrameType } from '../../src/h2/frames.ts'
import {
  data,
  endHeaders,
  endStream,
  type Fields,
  frame,
  get,
  goaway,
  headers,
  ping,
  post,
  priority,
  type RawPeer,
  rst,
  server,
  settings,
  settingsAck,
  windowUpdate,
} from './raw-peer.ts'

const continuation = (id: number, length: number): Buffer =>
  frame(FrameType.continuation, 0, id, Buffer.alloc(length))

/** Sends round after round until the connection ends. Returns how many it took. */
function attack(peer: RawPeer, round: (id: number) => Buffer[], most = 20_000): number {
  for (let count = 0; count < most; count++) {
    // Each frame in a chunk of its own: nothing helps the defender.
    for (const bytes of round(count * 2 + 1)) peer.send(bytes)
    if (peer.ends.length > 0) return count
  }
  return expect.unreachable('the connection did not end')
}

const open = (id: number): Buffer => headers(id, post, endHeaders)
const sized: Fields = [...post, ['content-length', '1']]

test.each<[string, string, number, (id: number) => Buffer[]]>([
  ['rapid reset', 'reset', 250, (id) => [headers(id, get), rst(id)]],
  ['a zero increment', 'stream-error', 250, (id) => [open(id), windowUpdate(id, 0)]],
  [
    'a window that is too large',
    'stream-error',
    250,
    (id) => [open(id), windowUpdate(id, 2 ** 31 - 1)],
  ],
  ['data after the end', 'stream-error', 250, (id) => [headers(id, get), data(id, 'x')]],
  ['headers after the end', 'stream-error', 250, (id) => [headers(id, get), headers(id, get)]],
  ['a PRIORITY of the wrong length', 'stream-error', 250, (id) => [open(id), priority(id, 0, 4)]],
  ['a PRIORITY on itself', 'stream-error', 250, (id) => [open(id), priority(id, id)]],
  [
    'a body that is too long',
    'stream-error',
    250,
    (id) => [headers(id, sized, endHeaders), data(id, 'xy')],
  ],
  [
    'trailers that do not end the stream',
    'stream-error',
    250,
    (id) => [open(id), headers(id, [], endHeaders)],
  ],
  ['malformed requests', 'stream-error', 250, (id) => [headers(id, [])]],
  [
    'large header sections',
    'stream-error',
    250,
    (id) => [headers(id, [...get, ['x', 'y'.repeat(16_300)], ['x', 'y']])],
  ],
  ['SETTINGS', 'settings', 1200, () => [settings([4, 100])]],
  ['acknowledgments', 'settings', 1200, () => [settingsAck]],
  ['PING', 'ping', 1200, () => [ping()]],
  ['answers to no PING', 'ping', 1200, () => [ping(1)]],
  ['PRIORITY', 'priority', 1200, (id) => [priority(id, 0)]],
  ['WINDOW_UPDATE of the connection', 'window-update', 1200, () => [windowUpdate(0, 1)]],
  [
    'WINDOW_UPDATE of a closed stream',
    'window-update',
    1200,
    (id) => (id === 1 ? [open(1), rst(1)] : [windowUpdate(1, 1)]),
  ],
  ['empty DATA', 'empty-data', 1200, (id) => (id === 1 ? [open(1)] : [data(1, '')])],
  [
    'empty DATA of padding',
    'empty-data',
    1200,
    (id) => (id === 1 ? [open(1)] : [frame(FrameType.data, 8, 1, Buffer.from([3, 0, 0, 0]))]),
  ],
  [
    'frames of unknown types',
    'unknown-frame',
    1200,
    (id) => [frame(0xaa, 0, id, Buffer.alloc(100))],
  ],
  ['GOAWAY', 'goaway', 1200, (id) => (id === 1 ? [open(1)] : [goaway(0)])],
  [
    'empty CONTINUATION',
    'continuation',
    100,
    (id) => (id === 1 ? [headers(1, get, 0)] : [continuation(1, 0)]),
  ],
  [
    'large CONTINUATION',
    'continuation',
    10,
    (id) => (id === 1 ? [headers(1, get, 0)] : [continuation(1, 16_384)]),
  ],
])('a flood of %s ends the connection', (_, kind, most, round) => {
  const peer = server({ maxStreams: 1000 })
  expect(attack(peer, round)).toBeLessThan(most)
  expect(peer.ends).toMatchObject([{ code: ErrorCode.enhanceYourCalm, flood: kind, by: 'us' }])
  const last = peer.sent().at(-1)
  expect([last?.type, last?.payload.readUInt32BE(4)]).toEqual([
    FrameType.goaway,
    ErrorCode.enhanceYourCalm,
  ])
  for (const { closed } of peer.streams) expect(closed).toHaveLength(1)
})

test('streams above the limit, again and again, end the connection', () => {
  const peer = server({ maxStreams: 10 })
  expect(attack(peer, (id) => [headers(id, get)])).toBeLessThan(250)
  expect(peer.flood).toBe('stream-error')
  expect(peer.streams).toHaveLength(10)
})

test('requests that are reset in the same chunk never begin', () => {
  const peer = server()
  peer.send(
    ...Array.from({ length: 150 }, (_, at) => [headers(at * 2 + 1, get), rst(at * 2 + 1)]).flat(),
  )
  expect(peer.streams).toEqual([])
  expect(peer.ends).toEqual([])
  peer.send(
    ...Array.from({ length: 150 }, (_, at) => [
      headers(at * 2 + 301, get),
      rst(at * 2 + 301),
    ]).flat(),
  )
  expect(peer.flood).toBe('reset')
  expect(peer.streams).toEqual([])
})

test('hundreds of settings in one frame end the connection', () => {
  const peer = server()
  peer.send(settings(...Array.from({ length: 33 }, (): [number, number] => [4, 100])))
  expect(peer.flood).toBe('settings')
})

test.each<[string, () => Buffer]>([
  ['RST_STREAM', () => rst(1)],
  ['HEADERS', () => headers(1, [['x', 'y']], endHeaders)],
  ['empty DATA', () => data(1, '')],
])('%s for a stream that we have reset are bounded', (_, make) => {
  const peer = server()
  peer.onRequest = (stream) => stream.reset(ErrorCode.cancel, 'test')
  peer.send(open(1))
  expect(attack(peer, () => [make()])).toBeLessThan(1200)
})

test('a client that reads no answers cannot make us keep them', () => {
  const peer = server()
  peer.isFull = true
  peer.send(headers(1, get), ping())
  let pings = 0
  // Slowly enough that no other limit ends it: each ping is paid for with data.
  peer.send(headers(3, post, endHeaders))
  for (; pings < 5000 && peer.ends.length === 0; pings++) {
    peer.send(data(3, 'xx'), ping())
    peer.streams[1]?.stream.consumed(2)
  }
  expect(peer.flood).toBe('unread-answers')
  expect(pings).toBeLessThan(1100)
})

test('a flood of streams that are served does not end anything', () => {
  const peer = server()
  peer.onRequest = (stream) => stream.sendHeaders([':status', '204'], true)
  for (let id = 1; id < 5000; id += 2) peer.send(headers(id, get))
  expect(peer.ends).toEqual([])
})

test('a browser that cancels a page of 100 loads, twice, goes on', () => {
  const peer = server()
  let id = -1
  const next = (): number => {
    id += 2
    return id
  }
  for (let page = 0; page < 2; page++) {
    const ids = Array.from({ length: 100 }, next)
    peer.send(...ids.map((one) => headers(one, get)))
    peer.send(...ids.map((one) => rst(one)))
    peer.onRequest = (stream) => stream.sendHeaders([':status', '204'], true)
    for (let load = 0; load < 100; load++) peer.send(headers(next(), get))
    peer.onRequest = () => {}
  }
  expect(peer.ends).toEqual([])
})

test('one call in three may be canceled for ever', () => {
  const peer = server()
  let id = 1
  for (let round = 0; round < 500; round++) {
    for (const isCanceled of [false, false, true]) {
      peer.onRequest = isCanceled ? () => {} : (one) => one.sendHeaders([':status', '204'], true)
      peer.send(headers(id, get))
      if (isCanceled) peer.send(rst(id))
      id += 2
    }
  }
  expect(peer.ends).toEqual([])
})

test('viewers who leave streams that ran for a while are no flood', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const peer = server()
  let id = -1
  for (let round = 0; round < 20; round++) {
    const ids = Array.from({ length: 100 }, () => {
      id += 2
      return id
    })
    peer.send(...ids.map((one) => headers(one, get)))
    vi.advanceTimersByTime(1001)
    peer.send(...ids.map((one) => rst(one)))
  }
  expect(peer.ends).toEqual([])
  expect(peer.streams).toHaveLength(2000)
})

/** A download of 8 MiB. `taken` says what the client sends for each frame of data it got. */
test.each<[string, (length: number) => Buffer[]]>([
  [
    'updates both windows after each frame, and pings, as grpc-go does',
    (length) => [windowUpdate(0, length), windowUpdate(1, length), ping()],
  ],
  [
    'reads 4 KiB at a time, as a buffered reader of Go does',
    (length) =>
      Array.from({ length: Math.ceil(length / 4096) }, (_, at) => {
        const more = Math.min(4096, length - at * 4096)
        return [windowUpdate(0, more), windowUpdate(1, more)]
      }).flat(),
  ],
  [
    'reads 1 KiB at a time',
    (length) =>
      Array.from({ length: Math.ceil(length / 1024) }, (_, at) => {
        const more = Math.min(1024, length - at * 1024)
        return [windowUpdate(0, more), windowUpdate(1, more)]
      }).flat(),
  ],
])('a client that %s is served', (_, taken) => {
  const peer = server()
  peer.send(headers(1, get))
  const { stream } = peer.streams[0] ?? expect.unreachable()
  stream.sendHeaders([':status', '200'], false)
  let [left, got] = [8 * 1024 * 1024, 0]
  while (left > 0 && peer.ends.length === 0) {
    while (left > 0 && stream.queuedBytes < 65_536) {
      stream.write(Buffer.alloc(32_768))
      left -= 32_768
    }
    for (const { type, payload } of peer.sent()) {
      if (type !== FrameType.data) continue
      got += payload.length
      peer.send(...taken(payload.length))
    }
  }
  expect(peer.ends).toEqual([])
  expect(got).toBeGreaterThan(7 * 1024 * 1024)
})

test('a stream of 10,000 small messages each way, with an update for each, is served', () => {
  const peer = server()
  peer.send(open(1))
  const { stream } = peer.streams[0] ?? expect.unreachable()
  stream.sendHeaders([':status', '200', 'content-type', 'application/grpc'], false)
  for (let message = 0; message < 10_000; message++) {
    peer.send(data(1, 'ping!'), windowUpdate(1, 5), windowUpdate(0, 5), ping())
    stream.consumed(5)
    stream.write(Buffer.from('pong!'))
    if (message % 100 === 0) peer.sent()
  }
  peer.send(data(1, '', endStream))
  stream.end(['grpc-status', '0'])
  peer.flush()
  expect(peer.ends).toEqual([])
  expect(peer.streams[0]?.closed).toEqual([undefined])
})

test('a slow upload in frames of one byte is served', () => {
  const peer = server()
  peer.send(open(1))
  for (let byte = 0; byte < 5000; byte++) {
    peer.send(data(1, 'x'))
    peer.streams[0]?.stream.consumed(1)
  }
  expect(peer.ends).toEqual([])
})
