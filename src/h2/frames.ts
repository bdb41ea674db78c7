/** RFC 9113 6. */
export const FrameType = {
  data: 0x0,
  headers: 0x1,
  priority: 0x2,
  rstStream: 0x3,
  settings: 0x4,
  pushPromise: 0x5,
  ping: 0x6,
  goaway: 0x7,
  windowUpdate: 0x8,
  continuation: 0x9,
} as const

export const Flag = {
  ack: 0x1,
  endStream: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const

/** RFC 9113 6.5.2. */
export const Setting = {
  headerTableSize: 0x1,
  enablePush: 0x2,
  maxConcurrentStreams: 0x3,
  initialWindowSize: 0x4,
  maxFrameSize: 0x5,
  maxHeaderListSize: 0x6,
} as const

export const frameHeaderBytes = 9
/** The limit that every endpoint begins with. We neither announce nor use a larger one. */
export const maxFrameBytes = 16_384
export const defaultWindow = 65_535
export const maxWindow = 0x7fff_ffff

/** What a client sends first (RFC 9113 3.4). */
export const preface: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly streamId: number
  readonly payload: Buffer
}

/** Writes the header of a frame to `into`, which must have room for it. */
export function writeFrameHeader(
  into: Buffer,
  at: number,
  frame: {
    readonly length: number
    readonly type: number
    readonly flags: number
    readonly id: number
  },
): void {
  const { length, type, flags, id } = frame
  into[at] = length >>> 16
  into[at + 1] = length >>> 8
  into[at + 2] = length
  into[at + 3] = type
  into[at + 4] = flags
  into.writeUInt32BE(id, at + 5)
}

/** A frame with a short payload. */
export function smallFrame(type: number, flags: number, id: number, payload: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(frameHeaderBytes + payload.length)
  writeFrameHeader(frame, 0, { length: payload.length, type, flags, id })
  payload.copy(frame, frameHeaderBytes)
  return frame
}

/** A frame whose payload is one number of 32 bits: RST_STREAM or WINDOW_UPDATE. */
export function numberFrame(type: number, id: number, value: number): Buffer {
  const frame = Buffer.allocUnsafe(frameHeaderBytes + 4)
  writeFrameHeader(frame, 0, { length: 4, type, flags: 0, id })
  frame.writeUInt32BE(value, frameHeaderBytes)
  return frame
}

export function settingsFrame(settings: readonly (readonly [number, number])[]): Buffer {
  const payload = Buffer.allocUnsafe(settings.length * 6)
  for (const [at, [setting, value]] of settings.entries()) {
    payload.writeUInt16BE(setting, at * 6)
    payload.writeUInt32BE(value, at * 6 + 2)
  }
  return smallFrame(FrameType.settings, 0, 0, payload)
}

export function goawayFrame(lastStreamId: number, code: number): Buffer {
  const payload = Buffer.allocUnsafe(8)
  payload.writeUInt32BE(lastStreamId, 0)
  payload.writeUInt32BE(code, 4)
  return smallFrame(FrameType.goaway, 0, 0, payload)
}

/** A header block as one HEADERS frame, and CONTINUATION frames for the rest of it. */
export function headersFrames(block: Buffer, id: number, endStream: boolean): Buffer {
  const parts = Math.max(1, Math.ceil(block.length / maxFrameBytes))
  const frames = Buffer.allocUnsafe(block.length + parts * frameHeaderBytes)
  let at = 0
  for (let part = 0; part < parts; part++) {
    const from = part * maxFrameBytes
    const length = Math.min(maxFrameBytes, block.length - from)
    const flags =
      (part === parts - 1 ? Flag.endHeaders : 0) | (part === 0 && endStream ? Flag.endStream : 0)
    const type = part === 0 ? FrameType.headers : FrameType.continuation
    writeFrameHeader(frames, at, { length, type, flags, id })
    block.copy(frames, at + frameHeaderBytes, from, from + length)
    at += frameHeaderBytes + length
  }
  return frames
}
