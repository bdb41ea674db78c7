import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { FrameReader } from '../../src/h2/frame-reader.ts'
import {
  Flag,
  type Frame,
  FrameType,
  preface,
  settingsFrame,
  smallFrame,
} from '../../src/h2/frames.ts'
import { Decoder } from '../../src/h2/hpack/decoder.ts'
import { until } from './until.ts'

/** A client that sends HTTP/2 frames made by hand, and keeps those that it gets. */
export interface FrameClient {
  readonly socket: Socket
  readonly frames: Frame[]
  send(...frames: readonly Buffer[]): void
  /** Waits for a frame of this type on this stream. */
  next(type: number, streamId?: number): Promise<Frame>
  /** The fields of the first header block of a stream. */
  fields(streamId: number): Promise<Record<string, string>>
  closed(): Promise<void>
}

/** Fields as literals that no table remembers, so that they can be anything. */
export function literals(fields: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat(
    fields.map(([name, value]) => {
      const [nameBytes, valueBytes] = [Buffer.from(name, 'latin1'), Buffer.from(value, 'latin1')]
      return Buffer.concat([Buffer.of(0), sized(nameBytes), sized(valueBytes)])
    }),
  )
}

function sized(bytes: Buffer): Buffer {
  if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes])
  const length = [127]
  let rest = bytes.length - 127
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128)
  return Buffer.concat([Buffer.from([...length, rest]), bytes])
}

export function requestFields(
  line: string,
  headers: readonly (readonly [string, string])[] = [],
): (readonly [string, string])[] {
  const [method = '', path = ''] = line.split(' ')
  return [
    [':method', method],
    [':scheme', 'http'],
    [':path', path],
    [':authority', 'gateway.test'],
    ...headers,
  ]
}

/** A HEADERS frame. It ends the stream unless a body follows. */
export function headers(
  id: number,
  fields: readonly (readonly [string, string])[],
  { body = false } = {},
): Buffer {
  const flags = Flag.endHeaders | (body ? 0 : Flag.endStream)
  return smallFrame(FrameType.headers, flags, id, literals(fields))
}

export function data(id: number, text: string | Buffer, isLast: boolean): Buffer {
  return smallFrame(FrameType.data, isLast ? Flag.endStream : 0, id, Buffer.from(text))
}

/** Connects in the clear, with preface and SETTINGS already sent. */
export async function connectFrames(
  port: number,
  settings: readonly (readonly [number, number])[] = [],
): Promise<FrameClient> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const reader = new FrameReader()
  const decoder = new Decoder({ headerBytes: 65_536, headerCount: 1000 })
  const frames: Frame[] = []
  const blocks = new Map<number, Record<string, string>>()
  let isClosed = false
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
  })
  socket.on('data', (chunk) => {
    // A server of HTTP/1.1 answers in text.
    if (chunk.toString('latin1', 0, 5) === 'HTTP/') return
    reader.push(chunk)
    for (let frame = reader.next(); frame !== undefined; frame = reader.next()) {
      frames.push(frame)
      if (frame.type !== FrameType.headers) continue
      const { fields } = decoder.decode(frame.payload)
      const record = Object.fromEntries(fields.map(({ name, value }) => [name, value]))
      blocks.set(frame.streamId, { ...record, ...blocks.get(frame.streamId) })
    }
  })
  await once(socket, 'connect')
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
      return blocks.get(streamId) ?? {}
    },
    closed: () => until(() => isClosed),
  }
}
