import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { nextTick } from 'node:process'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { onTestFinished } from 'vitest'
import {
  Flag,
  type Frame,
  FrameType,
  goawayFrame,
  headersFrames,
  numberFrame,
  preface,
  settingsFrame,
  smallFrame,
} from '../../src/h2/frames.ts'
import { Decoder } from '../../src/h2/hpack/decoder.ts'
import { Encoder } from '../../src/h2/hpack/encoder.ts'
import { WholeFrames } from './whole-frames.ts'

/** A connection of a server that sends hand-made frames. */
export interface FrameConnection {
  readonly socket: Socket
  /** Every frame that came, in order. */
  readonly frames: readonly Frame[]
  /** Of the types of frames that came. */
  count(type: number): number
  /** Of the DATA frames of a stream, as Latin-1. */
  body(id: number): string
  headers(id: number, fields: readonly string[], isLast?: boolean): void
  data(id: number, text: string, isLast?: boolean): void
  reset(id: number, code: number): void
  goaway(lastStreamId: number, code?: number): void
  settings(settings: readonly (readonly [number, number])[]): void
  raw(bytes: Buffer): void
}

export interface FrameRequest {
  readonly connection: FrameConnection
  readonly id: number
  readonly fields: Readonly<Record<string, string>>
  readonly isLast: boolean
  /** How many requests came before it, on any connection. */
  readonly turn: number
}

export interface FrameServer {
  readonly port: number
  readonly origin: string
  readonly connections: readonly FrameConnection[]
  readonly requests: readonly FrameRequest[]
  close(): Promise<void>
}

interface FrameServerOptions {
  readonly settings?: readonly (readonly [number, number])[]
  readonly answersPings?: boolean
  /** Whether it sends its settings. */
  readonly greets?: boolean
  /** Opens the windows again for what has arrived. */
  readonly reads?: boolean
  readonly tls?: TlsOptions
}

/** Calls `answer` for the HEADERS of each request. Closed with its test. */
export async function startFrameServer(
  answer: (request: FrameRequest) => unknown,
  { settings = [], answersPings = true, greets = true, reads = true, tls }: FrameServerOptions = {},
): Promise<FrameServer> {
  const connections: FrameConnection[] = []
  const requests: FrameRequest[] = []

  function accept(socket: Socket): void {
    const connection = frameConnection(socket)
    socket.setNoDelay()
    connections.push(connection)
    const reader = new WholeFrames()
    const decoder = new Decoder({ headerBytes: 1_000_000, headerCount: 10_000 })
    let prefaceLeft = preface.length
    if (greets) connection.settings(settings)
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      const skipped = Math.min(prefaceLeft, chunk.length)
      prefaceLeft -= skipped
      for (const frame of reader.read(chunk.subarray(skipped))) take(frame)
    })
    function take(frame: Frame): void {
      const { type, flags, streamId: id, payload } = frame
      connection.frames.push(frame)
      if (!greets) return
      if (type === FrameType.settings && (flags & Flag.ack) === 0) {
        connection.raw(smallFrame(FrameType.settings, Flag.ack, 0, Buffer.alloc(0)))
      } else if (type === FrameType.ping && answersPings) {
        connection.raw(smallFrame(FrameType.ping, Flag.ack, 0, payload))
      } else if (type === FrameType.data && reads && payload.length > 0) {
        connection.raw(numberFrame(FrameType.windowUpdate, 0, payload.length))
        connection.raw(numberFrame(FrameType.windowUpdate, id, payload.length))
      } else if (type === FrameType.headers) {
        const fields = Object.fromEntries(
          decoder.decode(payload).fields.map(({ name, value }) => [name, value]),
        )
        const isLast = (flags & Flag.endStream) !== 0
        const request = { connection, id, fields, isLast, turn: requests.length }
        requests.push(request)
        answer(request)
      }
    }
  }

  const server = tls === undefined ? createServer(accept) : createTlsServer(tls, accept)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async () => {
    if (!server.listening) return
    server.close()
    for (const { socket } of connections) socket.destroy()
    await once(server, 'close')
  }
  onTestFinished(close)
  const origin = tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`
  return { port, origin, connections, requests, close }
}

function frameConnection(socket: Socket): FrameConnection & { readonly frames: Frame[] } {
  const encoder = new Encoder()
  const frames: Frame[] = []
  // The frames of one turn arrive together.
  const raw = (bytes: Buffer) => {
    if (socket.destroyed) return
    socket.cork()
    socket.write(bytes)
    nextTick(() => socket.uncork())
  }
  return {
    socket,
    frames,
    count: (type) => frames.filter((frame) => frame.type === type).length,
    body: (id) =>
      Buffer.concat(
        frames
          .filter(({ type, streamId }) => type === FrameType.data && streamId === id)
          .map(({ payload }) => payload),
      ).toString('latin1'),
    headers: (id, fields, isLast = false) => raw(headersFrames(encoder.encode(fields), id, isLast)),
    data: (id, text, isLast = false) =>
      raw(smallFrame(FrameType.data, isLast ? Flag.endStream : 0, id, Buffer.from(text, 'latin1'))),
    reset: (id, code) => raw(numberFrame(FrameType.rstStream, id, code)),
    goaway: (last, code = 0) => raw(goawayFrame(last, code)),
    settings: (settings) => raw(settingsFrame(settings)),
    raw,
  }
}
