import { expect, onTestFinished, test, vi } from 'vitest'
import { ErrorCode } from '../../src/h2/error-codes.ts'
import { FrameType } from '../../src/h2/frames.ts'
import {
  data,
  endHeaders,
  endStream,
  type Fields,
  get,
  headers,
  ping,
  post,
  type RawPeer,
  rst,
  server,
} from './raw-peer.ts'

const trailers: Fields = [['x-sum', '1']]

/** A server that answers every request with 413, before its end. */
function refusing(more: Parameters<typeof server>[0] = {}): RawPeer {
  const peer = server(more)
  peer.onRequest = (stream) => stream.sendHeaders([':status', '413'], true)
  return peer
}

const upload = (id: number): Buffer => headers(id, post, endHeaders)
const count = (peer: RawPeer, type: number): number =>
  peer.sent().filter((sent) => sent.type === type).length

test('a request whose response is complete is reset when the client has answered a PING', () => {
  const peer = refusing()
  peer.send(upload(1))
  expect(peer.streams[0]?.closed).toEqual([undefined])
  expect(peer.session.size).toBe(0)
  expect(peer.sent().map(({ type }) => type)).toEqual([FrameType.headers, FrameType.ping])
  peer.send(data(1, 'still on its way'))
  expect(peer.resets()).toEqual([])
  peer.send(ping(1))
  expect(peer.resets()).toEqual([[1, ErrorCode.noError]])
  peer.send(data(1, 'crossing'), data(1, 'end', endStream), ping())
  expect(peer.error).toBeUndefined()
})

test.each<[string, Buffer[]]>([
  ['ends by itself', [data(1, 'end', endStream)]],
  ['ends in pieces', [data(1, 'end', endStream).subarray(0, 11), Buffer.from('d')]],
  ['ends with trailers', [headers(1, trailers)]],
  ['resets', [rst(1)]],
])('a request that its client %s is not reset', (_, chunks) => {
  const peer = refusing()
  peer.send(upload(1))
  for (const chunk of chunks) peer.send(chunk)
  peer.send(ping(1))
  expect(peer.resets()).toEqual([])
  expect(peer.error).toBeUndefined()
  // It is closed now, as any other stream.
  peer.send(data(1, 'x'))
  expect(peer.error).toBe(ErrorCode.streamClosed)
})

test('a client that answers no PING is told after a while', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const peer = refusing()
  peer.send(upload(1))
  vi.advanceTimersByTime(1500)
  peer.send(upload(3))
  expect(peer.resets()).toEqual([])
  vi.advanceTimersByTime(500)
  expect(peer.resets()).toEqual([[1, ErrorCode.noError]])
  // The answer to the first PING says nothing about the second response.
  peer.send(ping(1))
  expect(peer.resets()).toEqual([])
  peer.send(ping(1))
  expect(peer.resets()).toEqual([[3, ErrorCode.noError]])
  vi.advanceTimersByTime(60_000)
  expect(peer.sent()).toEqual([])
})

test('one PING at a time is for all responses before it', () => {
  const peer = refusing()
  peer.send(upload(1))
  peer.send(upload(3), upload(5))
  expect(count(peer, FrameType.ping)).toBe(1)
  peer.send(ping(1))
  expect(peer.sent().map(({ type, id }) => [type, id])).toEqual([
    [FrameType.rstStream, 1],
    [FrameType.ping, 0],
  ])
  peer.send(ping(1))
  expect(peer.resets()).toEqual([
    [3, ErrorCode.noError],
    [5, ErrorCode.noError],
  ])
})

test('such requests count as streams until then, and what comes of them opens the window again', () => {
  const peer = refusing({ maxStreams: 2, connectionWindow: 65_535 })
  peer.send(upload(1), upload(3), headers(5, get))
  expect(peer.rejected).toEqual([['refused', 'too many streams']])
  for (let round = 0; round < 20; round++) peer.send(data(1, Buffer.alloc(16_000)))
  expect(peer.error).toBeUndefined()
  expect(count(peer, FrameType.windowUpdate)).toBeGreaterThan(5)
  peer.send(data(1, '', endStream), headers(7, get))
  expect(peer.streams.map(({ stream }) => stream.id)).toEqual([1, 3, 7])
})

test('many streams may come and go meanwhile', () => {
  const peer = refusing()
  peer.send(upload(1))
  for (let id = 3; id < 2003; id += 2) peer.send(headers(id, get))
  peer.send(data(1, 'x'), data(1, 'end', endStream))
  expect(peer.error).toBeUndefined()
})

test('a shutdown waits for them', () => {
  const peer = refusing()
  peer.send(upload(1))
  peer.session.shutDown()
  expect(peer.ends).toEqual([])
  peer.send(ping(1))
  expect(peer.ends).toMatchObject([{ code: ErrorCode.noError }])
  expect(peer.resets()).toEqual([[1, ErrorCode.noError]])
})
