import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { onTestFinished } from 'vitest'
import { Flag, type Frame, FrameType, preface, settingsFrame } from '../../src/h2/frames.ts'
import { Decoder } from '../../src/h2/hpack/decoder.ts'
import { until } from './until.ts'
import { WholeFrames } from './whole-frames.ts'

export { data, headers, literals, requestFields } from './frame-builders.ts'

/** A client that sends HTTP/2 frames made by hand, and keeps those that it gets. */
export interface FrameClient {
  readonly socket: Socket
  readonly frames: Frame[]
  send(...frames: readonly Buffer[]): void
  /** Waits for a frame of this type on this stream. */
  next(type: number, streamId?: number): Promise<Frame>
  /** The fields of the first header block of a stream. */
  fields(streamId: number): Promise<Record<string, string>>
  /** Every header block of a stream so far, each with all its fields in order. */
  blocks(streamId: number): readonly (readonly (readonly [string, string])[])[]
  readonly isClosed: boolean
  closed(): Promise<void>
}

/** Connects, in the clear or with TLS, with preface and SETTINGS already sent. */
export async function connectFrames(
  port: number,
  settings: readonly (readonly [number, number])[] = [],
  {
    tls,
    localAddress = '127.0.0.1',
  }: {
    readonly tls?: ConnectionOptions | undefined
    readonly localAddress?: string | undefined
  } = {},
): Promise<FrameClient> {
  const there = { port, host: '127.0.0.1', localAddress, noDelay: true }
  const socket =
    tls === undefined ? connect(there) : connectTls({ ...there, ...tls, ALPNProtocols: ['h2'] })
  const reader = new WholeFrames()
  const decoder = new Decoder({ headerBytes: 65_536, headerCount: 1000 })
  const frames: Frame[] = []
  const blocks = new Map<number, (readonly [string, string])[][]>()
  /** A header block that continues in another frame. */
  let parts: Buffer[] = []
  let isClosed = false
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
  })
  socket.on('data', (chunk) => {
    // A server of HTTP/1.1 answers in text.
    if (chunk.toString('latin1', 0, 5) === 'HTTP/') return
    for (const frame of reader.read(chunk)) {
      frames.push(frame)
      if (frame.type !== FrameType.headers && frame.type !== FrameType.continuation) continue
      parts.push(frame.payload)
      if ((frame.flags & Flag.endHeaders) === 0) continue
      const { fields } = decoder.decode(Buffer.concat(parts))
      parts = []
      const block = fields.map(({ name, value }) => [name, value] as const)
      blocks.set(frame.streamId, [...(blocks.get(frame.streamId) ?? []), block])
    }
  })
  await once(socket, tls === undefined ? 'connect' : 'secureConnect')
  socket.write(Buffer.concat([preface, settingsFrame(settings)]))
  return {
    socket,
    frames,
    send: (...all) => void socket.write(Buffer.concat(all)),
    async next(type, streamId = 0) {
      const find = () => frames.find((each) => each.type === type && each.streamId === streamId)
      await until(() => find() !== undefined || isClosed)
      const found = find()
      if (found === undefined) throw new Error(`closed without a frame of type ${type}`)
      return found
    },
    async fields(streamId) {
      await until(() => blocks.has(streamId) || isClosed)
      return Object.fromEntries(blocks.get(streamId)?.[0] ?? [])
    },
    blocks: (streamId) => blocks.get(streamId) ?? [],
    get isClosed() {
      return isClosed
    },
    closed: () => until(() => isClosed),
  }
}
