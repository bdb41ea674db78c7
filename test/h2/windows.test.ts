import { expect, test } from 'vitest'
import { ErrorCode } from '../../src/h2/error-codes.ts'
import { FrameType } from '../../src/h2/frames.ts'
import {
  data,
  endHeaders,
  endStream,
  frame,
  get,
  headers,
  padded,
  ping,
  post,
  type RawPeer,
  rst,
  server,
  settings,
  windowUpdate,
} from './raw-peer.ts'

/** The length of each DATA frame that was sent, and whether it was the last. */
function sentData(peer: RawPeer): [id: number, length: number, isLast: boolean][] {
  return peer
    .sent()
    .filter(({ type }) => type === FrameType.data)
    .map(({ id, payload, flags }) => [id, payload.length, (flags & endStream) !== 0])
}

function updates(peer: RawPeer): [id: number, more: number][] {
  return peer
    .sent()
    .filter(({ type }) => type === FrameType.windowUpdate)
    .map(({ id, payload }) => [id, payload.readUInt32BE(0)])
}

function respond(peer: RawPeer, at: number, bytes: number): void {
  const { stream } = peer.streams[at] ?? expect.unreachable()
  stream.sendHeaders([':status', '200'], false)
  stream.write(Buffer.alloc(bytes))
  stream.end()
}

test('a response waits for the window of its stream, and of the connection', () => {
  const peer = server()
  peer.send(settings([4, 10]), headers(1, get))
  respond(peer, 0, 25)
  expect(sentData(peer)).toEqual([[1, 10, false]])
  peer.send(windowUpdate(0, 1000))
  expect(sentData(peer)).toEqual([])
  peer.send(windowUpdate(1, 14))
  expect(sentData(peer)).toEqual([[1, 14, false]])
  peer.send(windowUpdate(1, 100))
  expect(sentData(peer)).toEqual([[1, 1, true]])
})

test('the initial window changes streams that are open, below zero as well', () => {
  const peer = server()
  peer.send(settings([4, 10]), headers(1, get))
  respond(peer, 0, 25)
  expect(sentData(peer)).toEqual([[1, 10, false]])
  peer.send(settings([4, 4]))
  peer.send(windowUpdate(1, 6))
  expect(sentData(peer)).toEqual([])
  peer.send(windowUpdate(1, 2))
  expect(sentData(peer)).toEqual([[1, 2, false]])
  peer.send(settings([4, 5], [4, 1000]))
  expect(sentData(peer)).toEqual([[1, 13, true]])
})

test('streams share the window of the connection, and heads and ends do not wait for it', () => {
  const peer = server()
  peer.send(settings([4, 1_000_000]), headers(1, get), headers(3, get), headers(5, get))
  respond(peer, 0, 100_000)
  respond(peer, 1, 100_000)
  const first = sentData(peer)
  expect(first.map(([id]) => id)).toEqual([1, 3, 1, 3])
  expect(first.reduce((sum, [, length]) => sum + length, 0)).toBe(65_535)
  peer.streams[2]?.stream.sendHeaders([':status', '200'], false)
  peer.streams[2]?.stream.end(['grpc-status', '0'])
  expect(peer.sent().map(({ type, id }) => [type, id])).toEqual([
    [FrameType.headers, 5],
    [FrameType.headers, 5],
  ])
  peer.send(rst(1), windowUpdate(0, 200_000))
  const rest = sentData(peer)
  expect(new Set(rest.map(([id]) => id))).toEqual(new Set([3]))
  expect(rest.at(-1)?.[2]).toBe(true)
})

test('a window above the most resets its stream', () => {
  const peer = server()
  peer.send(headers(1, get), windowUpdate(1, 2 ** 31 - 1))
  expect(peer.resets()).toEqual([[1, ErrorCode.flowControlError]])
  expect(peer.error).toBeUndefined()
})

test('a body above the window of its stream resets it, and above that of the connection ends it', () => {
  const peer = server({ streamWindow: 65_535, connectionWindow: 100_000 })
  const most = Buffer.alloc(16_000)
  peer.send(headers(1, post, endHeaders), headers(3, post, endHeaders))
  peer.send(...Array.from({ length: 4 }, () => data(1, most)))
  expect(peer.resets()).toEqual([])
  peer.send(data(1, most))
  expect(peer.resets()).toEqual([[1, ErrorCode.flowControlError]])
  // What the closed stream had not read is free again.
  peer.send(...Array.from({ length: 4 }, () => data(3, most)))
  expect(peer.error).toBeUndefined()
  peer.send(headers(5, post, endHeaders), ...Array.from({ length: 3 }, () => data(5, most)))
  expect(peer.error).toBe(ErrorCode.flowControlError)
})

test('the windows open as the body is read, padding at once, each byte once', () => {
  const peer = server({ streamWindow: 65_536, connectionWindow: 131_072 })
  const chunk = Buffer.alloc(16_000)
  peer.send(headers(1, post, endHeaders))
  const { stream } = peer.streams[0] ?? expect.unreachable()
  let [onStream, onConnection] = [0, 0]
  const count = (): void => {
    for (const [id, more] of updates(peer)) {
      if (id === 0) onConnection += more
      else onStream += more
    }
  }
  for (let round = 0; round < 100; round++) {
    peer.send(data(1, chunk), frame(FrameType.data, padded, 1, Buffer.alloc(201, 200)))
    expect(peer.error, `${round}`).toBeUndefined()
    stream.consumed(chunk.length)
    // More than was received opens nothing.
    stream.consumed(1_000_000)
    count()
  }
  const all = 100 * 16_201
  expect(onStream).toBeLessThanOrEqual(all)
  expect(onStream).toBeGreaterThan(all - 65_536)
  expect(onConnection).toBeLessThanOrEqual(all)
  expect(onConnection).toBeGreaterThan(all - 131_072)
})

test('data for a stream that we have reset opens the window of the connection again', () => {
  const peer = server({ connectionWindow: 65_535 })
  peer.send(headers(1, post, endHeaders))
  peer.streams[0]?.stream.reset(ErrorCode.cancel, 'test')
  for (let round = 0; round < 50; round++) peer.send(data(1, Buffer.alloc(16_000)))
  expect(peer.error).toBeUndefined()
})

test('a writer is told to stop, and to go on when its data has left', () => {
  const peer = server()
  peer.send(settings([4, 50_000]), headers(1, get))
  const { stream } = peer.streams[0] ?? expect.unreachable()
  const done: (boolean | undefined)[] = []
  stream.sendHeaders([':status', '200'], false)
  expect(stream.write(Buffer.alloc(60_000), (error) => done.push(!error))).toBe(true)
  expect(stream.write(Buffer.alloc(40_000), (error) => done.push(!error))).toBe(false)
  peer.sent()
  expect(done).toEqual([])
  peer.send(windowUpdate(1, 20_000))
  expect([done, peer.streams[0]?.drains]).toEqual([[true], 0])
  peer.send(windowUpdate(0, 100_000), windowUpdate(1, 100_000))
  peer.sent()
  expect([done, peer.streams[0]?.drains]).toEqual([[true, true], 1])
  stream.write(Buffer.alloc(100_000), (error) => done.push(!error))
  peer.session.disconnected('closed')
  expect(done).toEqual([true, true, false])
})

test('a client that does not read gets no more data, and its responses keep their streams', () => {
  const peer = server({ maxStreams: 10 })
  peer.isFull = true
  peer.onRequest = (stream) => stream.sendHeaders([':status', '200', 'x', 'y'.repeat(4000)], true)
  for (let id = 1; id < 100; id += 2) peer.send(headers(id, get))
  // The first answers filled the buffer; those after it wait, and then requests are refused.
  expect(peer.session.size).toBe(10)
  expect(peer.rejected.every(([reason]) => reason === 'refused')).toBe(true)
  expect(peer.streams.length).toBeLessThan(13)
  peer.isFull = false
  peer.flush()
  expect(peer.session.size).toBe(0)
  expect(peer.streams.every(({ closed }) => closed.length === 1)).toBe(true)
  peer.send(ping(), headers(101, get))
  expect(peer.error).toBeUndefined()
})
