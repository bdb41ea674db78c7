import { ConnectionError, ErrorCode, protocolError } from './error-codes.ts'
import { FloodError } from './flood-limits.ts'
import { type FramePart, FrameReader } from './frame-reader.ts'
import { Flag, type Frame, FrameType, maxWindow, preface } from './frames.ts'

/** A DATA frame as a whole, of which perhaps only the beginning has arrived. */
export interface DataFrame {
  readonly dataBytes: number
  /** What counts against the windows, with the padding. */
  readonly flowBytes: number
  readonly endStream: boolean
}

/** Takes frames of the right form. Each may throw a ConnectionError. */
export interface FrameHandler {
  /** A DATA frame begins. Its data follows, perhaps in parts. */
  dataBegins(streamId: number, frame: DataFrame): void
  /** `flowBytes`: what counts against the windows, with the padding. `isLast`: it ends the stream. */
  data(streamId: number, data: Buffer, flowBytes: number, isLast: boolean): void
  headers(streamId: number, block: Buffer, endStream: boolean): void
  /** `code`: why it is malformed, if it is, which ends only its stream. */
  priority(streamId: number, code: number | undefined): void
  reset(streamId: number, code: number): void
  settings(settings: readonly (readonly [setting: number, value: number])[]): void
  settingsAcknowledged(): void
  ping(payload: Buffer): void
  pingAnswered(): void
  goaway(lastStreamId: number, code: number): void
  windowUpdate(streamId: number, more: number): void
  unknown(): void
}

/** The first octets of a header block that continues in another frame. */
interface OpenBlock {
  readonly streamId: number
  readonly endStream: boolean
  readonly parts: Buffer[]
  bytes: number
}

/** More frames than that for one header block are an attack (CVE-2024-27983). */
const maxContinuations = 64
/** Up to this, a header block that is too large is read, so that it can be answered. */
const minBlockBytes = 65_536
/** No client needs more in one frame; every change of the windows walks over all streams. */
const maxSettings = 32

/**
 * Reads what a peer sends: checks the form of each frame (RFC 9113 6), and joins the frames of a header
 * block. What the frame means for its stream is for the `handler`.
 */
export class IncomingFrames {
  readonly #handler: FrameHandler
  readonly #reader = new FrameReader()
  readonly #maxBlockBytes: number
  #prefaceLeft: number
  #hasSettings = false
  #block: OpenBlock | undefined
  /** Where in the payload of the last DATA frame its data begins and ends, between padding. */
  #dataFrom = 0
  #dataEnd = 0
  #isStopped = false
  /** Since when a frame or header block is incomplete, in `performance.now()` time. */
  unfinishedSince: number | undefined

  constructor(role: 'server' | 'client', headerBytes: number, handler: FrameHandler) {
    this.#handler = handler
    this.#prefaceLeft = role === 'server' ? preface.length : 0
    // A block that was compressed at all is smaller than its fields.
    this.#maxBlockBytes = Math.max(headerBytes * 2, minBlockBytes)
  }

  /** Throws a ConnectionError. */
  receive(chunk: Buffer): void {
    this.#reader.push(this.#prefaceLeft > 0 ? this.#readPreface(chunk) : chunk)
    let hasFrames = false
    for (let frame = this.#reader.next(); frame !== undefined; frame = this.#reader.next()) {
      this.#take(frame)
      if (this.#isStopped) return
      hasFrames = true
    }
    this.#noteTime(hasFrames)
  }

  /** Takes no more frames, not even those that have arrived. */
  stop(): void {
    this.#isStopped = true
  }

  /** In a fast upload, every chunk ends inside of a frame, but each time in another one. */
  #noteTime(hasFrames: boolean): void {
    const isInsideBlock = this.#block !== undefined
    const isInsideFrame = this.#reader.isInsideFrame && !this.#reader.isInsideData
    if (this.#prefaceLeft === 0 && !isInsideBlock && !isInsideFrame) {
      this.unfinishedSince = undefined
    } else if (hasFrames && !isInsideBlock) this.unfinishedSince = performance.now()
    else this.unfinishedSince ??= performance.now()
  }

  #readPreface(chunk: Buffer): Buffer {
    const from = preface.length - this.#prefaceLeft
    const length = Math.min(this.#prefaceLeft, chunk.length)
    if (preface.compare(chunk, 0, length, from, from + length) !== 0) {
      throw protocolError('invalid connection preface')
    }
    this.#prefaceLeft -= length
    return chunk.subarray(length)
  }

  #take(frame: FramePart): void {
    const { type, flags } = frame
    if (this.#block !== undefined && type !== FrameType.continuation) {
      throw protocolError('frame inside a header block')
    }
    if (!this.#hasSettings && (type !== FrameType.settings || (flags & Flag.ack) !== 0)) {
      throw protocolError('the first frame must be SETTINGS')
    }
    switch (type) {
      case FrameType.data:
        this.#takeData(frame)
        break
      case FrameType.headers:
        this.#takeHeaders(frame)
        break
      case FrameType.priority:
        this.#takePriority(frame)
        break
      case FrameType.rstStream:
        this.#takeReset(frame)
        break
      case FrameType.settings:
        this.#takeSettings(frame)
        break
      case FrameType.pushPromise:
        throw protocolError('PUSH_PROMISE without permission')
      case FrameType.ping:
        this.#takePing(frame)
        break
      case FrameType.goaway:
        this.#takeGoaway(frame)
        break
      case FrameType.windowUpdate:
        this.#takeWindowUpdate(frame)
        break
      case FrameType.continuation:
        this.#takeContinuation(frame)
        break
      default:
        this.#handler.unknown()
    }
  }

  #takeData(part: FramePart): void {
    if (part.offset === 0) this.#beginData(part)
    if (this.#isStopped) return
    const { streamId, flags, payload, offset, length } = part
    const from = Math.min(payload.length, Math.max(0, this.#dataFrom - offset))
    const end = Math.max(from, Math.min(payload.length, this.#dataEnd - offset))
    const isLast = offset + payload.length === length && (flags & Flag.endStream) !== 0
    this.#handler.data(streamId, payload.subarray(from, end), payload.length, isLast)
  }

  #beginData({ streamId, flags, payload, length }: FramePart): void {
    if (streamId === 0) throw protocolError('DATA without a stream')
    const isPadded = (flags & Flag.padded) !== 0
    this.#dataFrom = isPadded ? 1 : 0
    this.#dataEnd = isPadded ? endWithoutPadding(payload, length) : length
    this.#handler.dataBegins(streamId, {
      dataBytes: this.#dataEnd - this.#dataFrom,
      flowBytes: length,
      endStream: (flags & Flag.endStream) !== 0,
    })
  }

  #takeHeaders({ streamId, flags, payload }: Frame): void {
    if (streamId === 0) throw protocolError('HEADERS without a stream')
    const isPadded = (flags & Flag.padded) !== 0
    let from = isPadded ? 1 : 0
    const end = isPadded ? endWithoutPadding(payload, payload.length) : payload.length
    if ((flags & Flag.priority) !== 0) {
      if (end - from < 5) throw frameSizeError('HEADERS is too short')
      if (dependencyAt(payload, from) === streamId) throw protocolError('stream depends on itself')
      from += 5
    }
    const endStream = (flags & Flag.endStream) !== 0
    const part = payload.subarray(from, end)
    if ((flags & Flag.endHeaders) !== 0) this.#handler.headers(streamId, part, endStream)
    else this.#block = { streamId, endStream, parts: [part], bytes: part.length }
  }

  #takeContinuation({ streamId, flags, payload }: Frame): void {
    const block = this.#block
    if (block === undefined || block.streamId !== streamId) {
      throw protocolError('CONTINUATION without HEADERS')
    }
    block.parts.push(payload)
    block.bytes += payload.length
    if (block.parts.length > maxContinuations || block.bytes > this.#maxBlockBytes) {
      throw new FloodError('continuation')
    }
    if ((flags & Flag.endHeaders) === 0) return
    this.#block = undefined
    this.#handler.headers(streamId, Buffer.concat(block.parts, block.bytes), block.endStream)
  }

  #takePriority({ streamId, payload }: Frame): void {
    if (streamId === 0) throw protocolError('PRIORITY without a stream')
    if (payload.length !== 5) this.#handler.priority(streamId, ErrorCode.frameSizeError)
    else {
      const isSelf = dependencyAt(payload, 0) === streamId
      this.#handler.priority(streamId, isSelf ? ErrorCode.protocolError : undefined)
    }
  }

  #takeReset({ streamId, payload }: Frame): void {
    if (streamId === 0) throw protocolError('RST_STREAM without a stream')
    if (payload.length !== 4) throw frameSizeError('malformed RST_STREAM')
    this.#handler.reset(streamId, payload.readUInt32BE(0))
  }

  #takeSettings({ streamId, flags, payload }: Frame): void {
    if (streamId !== 0) throw protocolError('SETTINGS on a stream')
    if ((flags & Flag.ack) !== 0) {
      if (payload.length > 0) throw frameSizeError('malformed SETTINGS acknowledgment')
      this.#handler.settingsAcknowledged()
      return
    }
    if (payload.length % 6 !== 0) throw frameSizeError('malformed SETTINGS')
    if (payload.length > maxSettings * 6) throw new FloodError('settings')
    const settings: [number, number][] = []
    for (let at = 0; at < payload.length; at += 6) {
      settings.push([payload.readUInt16BE(at), payload.readUInt32BE(at + 2)])
    }
    this.#hasSettings = true
    this.#handler.settings(settings)
  }

  #takePing({ streamId, flags, payload }: Frame): void {
    if (streamId !== 0) throw protocolError('PING on a stream')
    if (payload.length !== 8) throw frameSizeError('malformed PING')
    if ((flags & Flag.ack) === 0) this.#handler.ping(payload)
    else this.#handler.pingAnswered()
  }

  #takeGoaway({ streamId, payload }: Frame): void {
    if (streamId !== 0) throw protocolError('GOAWAY on a stream')
    if (payload.length < 8) throw frameSizeError('malformed GOAWAY')
    this.#handler.goaway(payload.readUInt32BE(0) & maxWindow, payload.readUInt32BE(4))
  }

  #takeWindowUpdate({ streamId, payload }: Frame): void {
    if (payload.length !== 4) throw frameSizeError('malformed WINDOW_UPDATE')
    this.#handler.windowUpdate(streamId, payload.readUInt32BE(0) & maxWindow)
  }
}

/** Where the padding of a frame begins, of whose payload at least the first byte has arrived. */
function endWithoutPadding(payload: Buffer, length: number): number {
  const padding = payload[0]
  if (padding === undefined) throw frameSizeError('padded frame is too short')
  if (padding >= length) throw protocolError('padding is longer than its frame')
  return length - padding
}

function dependencyAt(payload: Buffer, at: number): number {
  return payload.readUInt32BE(at) & maxWindow
}

function frameSizeError(message: string): ConnectionError {
  return new ConnectionError(ErrorCode.frameSizeError, message)
}
