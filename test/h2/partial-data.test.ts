import { expect, test } from 'vitest'
import { ErrorCode } from '../../src/h2/error-codes.ts'
import { FrameType } from '../../src/h2/frames.ts'
import {
  client,
  data,
  endHeaders,
  endStream,
  type Fields,
  frame,
  headers,
  padded,
  ping,
  post,
  type RawPeer,
  server,
} from './raw-peer.ts'

const withLength = (length: number): Fields => [...post, ['content-length', `${length}`]]

function sendBytes(peer: RawPeer, bytes: Buffer, step = 1): void {
  for (let at = 0; at < bytes.length; at += step) peer.send(bytes.subarray(at, at + step))
}

const received = (peer: RawPeer): [string, boolean] => {
  const { body, trailers } = peer.streams[0] ?? expect.unreachable()
  return [body, trailers !== undefined]
}

test('data is delivered as it arrives, and the end with the last byte of its frame', () => {
  const peer = server()
  const whole = data(1, 'abcdef', endStream)
  peer.send(headers(1, withLength(6), endHeaders), whole.subarray(0, 9))
  expect(received(peer)).toEqual(['', false])
  peer.send(whole.subarray(9, 10))
  expect(received(peer)).toEqual(['a', false])
  peer.send(whole.subarray(10, 14))
  expect(received(peer)).toEqual(['abcde', false])
  peer.send(whole.subarray(14), headers(3, post))
  expect(received(peer)).toEqual(['abcdef', true])
  expect(peer.streams).toHaveLength(2)
})

test.each([1, 2, 3, 5, 7, 100])('padding is no data, in pieces of %i bytes', (step) => {
  const peer = server()
  peer.send(headers(1, withLength(10), endHeaders))
  const payload = Buffer.concat([Buffer.of(4), Buffer.from('hello'), Buffer.alloc(4)])
  const first = frame(FrameType.data, padded, 1, payload)
  const last = frame(FrameType.data, padded | endStream, 1, payload)
  sendBytes(peer, Buffer.concat([first, last.subarray(0, -1)]), step)
  expect(received(peer)).toEqual(['hellohello', false])
  peer.send(last.subarray(-1))
  expect(received(peer)).toEqual(['hellohello', true])
  expect(peer.error).toBeUndefined()
})

test.each([
  ['longer than its Content-Length', withLength(3), data(1, 'abcdef')],
  ['shorter, with its end', withLength(9), data(1, 'abcdef', endStream)],
])('no byte is delivered of a frame that makes a body %s', (_, fields, bytes) => {
  const peer = server()
  peer.send(headers(1, fields, endHeaders), bytes.subarray(0, 10))
  expect(peer.resets()).toEqual([[1, ErrorCode.protocolError]])
  peer.send(bytes.subarray(10), ping())
  expect(peer.streams.every(({ body, trailers }) => body === '' && trailers === undefined)).toBe(
    true,
  )
  expect(peer.error).toBeUndefined()
})

test('a frame above a window is an error at its beginning', () => {
  const peer = server({ streamWindow: 65_535, connectionWindow: 100_000 })
  const full = Buffer.alloc(16_384)
  peer.send(headers(1, post, endHeaders), ...Array.from({ length: 3 }, () => data(1, full)))
  peer.send(data(1, full).subarray(0, 10))
  expect(peer.resets()).toEqual([[1, ErrorCode.flowControlError]])
  peer.send(data(1, full).subarray(10), headers(3, post, endHeaders))
  expect(peer.error).toBeUndefined()
  peer.send(...Array.from({ length: 3 }, () => data(3, full)))
  peer.send(headers(5, post, endHeaders), ...Array.from({ length: 3 }, () => data(5, full)))
  expect(peer.error).toBeUndefined()
  peer.send(data(5, full).subarray(0, 10))
  expect(peer.error).toBe(ErrorCode.flowControlError)
})

test('the windows open for parts of frames, and for the rest of a frame whose stream we reset', () => {
  const peer = server({ streamWindow: 65_535, connectionWindow: 65_535 })
  const whole = data(1, Buffer.alloc(16_000))
  peer.send(headers(1, post, endHeaders))
  for (let round = 0; round < 20; round++) {
    for (const part of [whole.subarray(0, 7000), whole.subarray(7000)]) {
      peer.send(part)
      peer.streams[0]?.stream.consumed(16_000)
    }
  }
  expect(peer.error).toBeUndefined()
  for (let id = 3; id < 43; id += 2) {
    const cut = data(id, Buffer.alloc(16_000), endStream)
    peer.send(headers(id, post, endHeaders), cut.subarray(0, 5000))
    peer.streams.at(-1)?.stream.reset(ErrorCode.cancel, 'test')
    peer.send(cut.subarray(5000))
  }
  expect(peer.error).toBeUndefined()
  expect(peer.streams.slice(1).every(({ closed }) => closed.length === 1)).toBe(true)
})

test('a frame in many pieces counts as one frame', () => {
  const peer = server()
  peer.send(headers(1, post, endHeaders))
  let rounds = 0
  for (; rounds < 5000 && peer.ends.length === 0; rounds++) {
    sendBytes(peer, data(1, 'a'.repeat(10)), 4)
    peer.streams[0]?.stream.consumed(10)
    peer.send(ping(), ping())
  }
  expect(peer.flood).toBe('ping')
  // Padding that arrives byte by byte is not a flood, but frames without data are.
  const other = server()
  other.send(headers(1, post, endHeaders))
  const empty = frame(FrameType.data, padded, 1, Buffer.from([200, ...Array(200).fill(0)]))
  for (let round = 0; round < 20; round++) sendBytes(other, empty)
  expect(other.error).toBeUndefined()
  for (let round = 0; round < 1500 && other.ends.length === 0; round++) sendBytes(other, empty, 90)
  expect(other.flood).toBe('empty-data')
})

test('a response is delivered as it arrives too', () => {
  const peer = client()
  const seen = peer.open([':method', 'GET', ':scheme', 'http', ':path', '/'])
  const whole = data(1, 'abcdef', endStream)
  peer.send(headers(1, [[':status', '200']], endHeaders), whole.subarray(0, 11))
  expect([seen.body, seen.trailers]).toEqual(['ab', undefined])
  peer.send(whole.subarray(11))
  expect([seen.body, seen.trailers, seen.closed]).toEqual(['abcdef', [], [undefined]])
})
