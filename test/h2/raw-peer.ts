import { FrameType, preface } from '../../src/h2/frames.ts'
import type { RequestFields, ResponseFields } from '../../src/h2/message-fields.ts'
import { Session } from '../../src/h2/session.ts'
import type { Stream, StreamAbort, StreamEvents } from '../../src/h2/stream.ts'

/** Frames made by hand, right or wrong. */
export function frame(
  type: number,
  flags: number,
  id: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const header = Buffer.alloc(9)
  header.writeUIntBE(payload.length, 0, 3)
  header[3] = type
  header[4] = flags
  header.writeUInt32BE(id, 5)
  return Buffer.concat([header, payload])
}

export const endStream = 0x1
export const endHeaders = 0x4
export const padded = 0x8
export const priorityFlag = 0x20

export function settings(...pairs: readonly (readonly [number, number])[]): Buffer {
  const payload = Buffer.alloc(pairs.length * 6)
  for (const [at, [setting, value]] of pairs.entries()) {
    payload.writeUInt16BE(setting, at * 6)
    payload.writeUInt32BE(value, at * 6 + 2)
  }
  return frame(FrameType.settings, 0, 0, payload)
}

export const settingsAck: Buffer = frame(FrameType.settings, 1, 0)
export const greeting: Buffer = Buffer.concat([preface, settings()])

export type Fields = readonly (readonly [name: string, value: string])[]

/** Literals that no table remembers, so that the order of blocks does not matter. */
export function block(fields: Fields): Buffer {
  return Buffer.concat(
    fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]),
  )
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  return Buffer.concat([integer(0x7f, bytes.length), bytes])
}

/** RFC 7541 5.1, after a pattern of zeros. */
export function integer(mask: number, value: number): Buffer {
  if (value < mask) return Buffer.from([value])
  const bytes = [mask]
  let rest = value - mask
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80)
  return Buffer.from([...bytes, rest])
}

export function headers(id: number, fields: Fields, flags = endStream | endHeaders): Buffer {
  return frame(FrameType.headers, flags, id, block(fields))
}

export function data(id: number, bytes: Buffer | string, flags = 0): Buffer {
  return frame(FrameType.data, flags, id, Buffer.from(bytes))
}

/** A frame of one number of 32 bits. */
export function number(type: number, id: number, value: number): Buffer {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(value)
  return frame(type, 0, id, payload)
}

export const rst = (id: number, code = 8): Buffer => number(FrameType.rstStream, id, code)
export const windowUpdate = (id: number, more: number): Buffer =>
  number(FrameType.windowUpdate, id, more)
export const ping = (flags = 0): Buffer => frame(FrameType.ping, flags, 0, Buffer.from('pingpong'))

export function goaway(last: number, code = 0): Buffer {
  const payload = Buffer.alloc(8)
  payload.writeUInt32BE(last, 0)
  payload.writeUInt32BE(code, 4)
  return frame(FrameType.goaway, 0, 0, payload)
}

export function priority(id: number, dependsOn: number, length = 5): Buffer {
  const payload = Buffer.alloc(Math.max(5, length))
  payload.writeUInt32BE(dependsOn)
  return frame(FrameType.priority, 0, id, payload.subarray(0, length))
}

export const get: Fields = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', 'app.example'],
  [':path', '/'],
]
export const post: Fields = [[':method', 'POST'], ...get.slice(1)]

export interface Sent {
  readonly type: number
  readonly flags: number
  readonly id: number
  readonly payload: Buffer
}

/** What a stream of the session saw. */
export interface Seen {
  readonly stream: Stream
  readonly fields: RequestFields | undefined
  readonly heads: ResponseFields[]
  body: string
  trailers: readonly string[] | undefined
  drains: number
  readonly closed: (StreamAbort | undefined)[]
}

const defaults = {
  maxStreams: 100,
  streamWindow: 65_535,
  connectionWindow: 1_048_576,
  headerBytes: 16_384,
  headerCount: 100,
}

/** A session, and the other end of its connection, which sends and sees frames. */
export class RawPeer {
  readonly session: Session
  readonly streams: Seen[] = []
  readonly rejected: [reason: string, details: string][] = []
  readonly goaways: [last: number, code: number][] = []
  readonly idle: boolean[] = []
  /** Each must be one at most. */
  readonly ends: Parameters<ConstructorParameters<typeof Session>[3]['ended']>[0][] = []
  settingsSeen = 0
  /** The socket's buffer is full. */
  isFull = false
  /** Called for each request. */
  onRequest: (stream: Stream, fields: RequestFields) => void = () => {}
  #written: Buffer[] = []

  constructor(role: 'server' | 'client', more: Partial<typeof defaults> = {}) {
    this.session = new Session(
      role,
      {
        write: (bytes) => {
          this.#written.push(bytes)
          return !this.isFull
        },
      },
      { ...defaults, ...more },
      {
        request: (stream, fields) => {
          const seen = this.#see(stream, fields)
          this.onRequest(stream, fields)
          return this.events(seen)
        },
        rejected: (reason, details) => void this.rejected.push([reason, details]),
        idle: (isIdle) => void this.idle.push(isIdle),
        goaway: (last, code) => void this.goaways.push([last, code]),
        settings: () => void this.settingsSeen++,
        ended: (end) => void this.ends.push(end),
      },
    )
    this.session.drained()
    this.sent()
  }

  /** All in one chunk. */
  send(...frames: Buffer[]): this {
    this.session.receive(Buffer.concat(frames))
    return this
  }

  /** The frames that the session has sent since the last call. */
  sent(): Sent[] {
    this.flush()
    let bytes = Buffer.concat(this.#written)
    this.#written = []
    if (bytes.subarray(0, preface.length).equals(preface)) bytes = bytes.subarray(preface.length)
    const frames: Sent[] = []
    while (bytes.length > 0) {
      const end = 9 + bytes.readUIntBE(0, 3)
      frames.push({
        type: bytes[3] as number,
        flags: bytes[4] as number,
        id: bytes.readUInt32BE(5),
        payload: bytes.subarray(9, end),
      })
      bytes = bytes.subarray(end)
    }
    return frames
  }

  /** The streams that the session has reset since the last call of `sent`, with the codes. */
  resets(): [id: number, code: number][] {
    return this.sent()
      .filter(({ type }) => type === FrameType.rstStream)
      .map(({ id, payload }) => [id, payload.readUInt32BE(0)])
  }

  /** What is sent at the end of the turn. */
  flush(): void {
    if (!this.isFull) this.session.drained()
  }

  /** The code of the error that the session ended with. */
  get error(): number | undefined {
    return this.ends[0]?.code
  }

  get flood(): string | undefined {
    return this.ends[0]?.flood
  }

  /** Only of a client. */
  open(fields: readonly string[], isLast = true, bodyless = false): Seen {
    const events: { current?: StreamEvents } = {}
    const stream = this.session.open(
      fields,
      isLast,
      {
        head: (response) => events.current?.head(response),
        data: (chunk) => events.current?.data(chunk),
        end: (trailers) => events.current?.end(trailers),
        drain: () => events.current?.drain(),
        closed: (abort) => events.current?.closed(abort),
      },
      bodyless,
    )
    const seen = this.#see(stream, undefined)
    events.current = this.events(seen)
    return seen
  }

  #see(stream: Stream, fields: RequestFields | undefined): Seen {
    const seen: Seen = {
      stream,
      fields,
      heads: [],
      body: '',
      trailers: undefined,
      drains: 0,
      closed: [],
    }
    this.streams.push(seen)
    return seen
  }

  events(seen: Seen): StreamEvents {
    return {
      head: (response) => void seen.heads.push(response),
      data: (chunk) => {
        seen.body += chunk.toString('latin1')
      },
      end: (trailers) => {
        seen.trailers = trailers
      },
      drain: () => void seen.drains++,
      closed: (abort) => void seen.closed.push(abort),
    }
  }
}

export function server(more: Partial<typeof defaults> = {}): RawPeer {
  const peer = new RawPeer('server', more)
  peer.send(greeting, settingsAck)
  peer.sent()
  return peer
}

export function client(more: Partial<typeof defaults> = {}): RawPeer {
  const peer = new RawPeer('client', more)
  peer.send(settings(), settingsAck)
  peer.sent()
  return peer
}
