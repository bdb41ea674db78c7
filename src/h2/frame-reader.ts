import { ConnectionError, ErrorCode } from './error-codes.ts'
import { type Frame, FrameType, frameHeaderBytes, maxFrameBytes } from './frames.ts'

/** A frame, or a part of a DATA frame. */
export interface FramePart extends Frame {
  /** How much of the payload came in earlier parts. */
  readonly offset: number
  /** Of the whole payload. */
  readonly length: number
}

const none = Buffer.alloc(0)

/**
 * Cuts the bytes of a connection into frames. DATA comes in parts, as it arrives: a slow body must not
 * wait for the end of its frame. Every other frame is complete, and one that arrives byte by byte takes
 * no more memory than its length.
 */
export class FrameReader {
  #chunk: Buffer = none
  #at = 0
  /** Of a frame that is not complete yet. */
  readonly #header = Buffer.alloc(frameHeaderBytes)
  #headerBytes = 0
  /** How much of its payload was read. */
  #offset = 0
  /** The payload so far, unless the frame is DATA. */
  #payload: Buffer | undefined

  /** Only when `next` has returned `undefined`. */
  push(chunk: Buffer): void {
    this.#chunk = chunk
    this.#at = 0
  }

  /** Whether a part of a frame has arrived. */
  get isInsideFrame(): boolean {
    return this.#headerBytes > 0
  }

  /** Whether that is a part of a body, which may come slowly. */
  get isInsideData(): boolean {
    return this.#headerBytes === frameHeaderBytes && this.#header[3] === FrameType.data
  }

  /** `undefined` until more has arrived. Throws for a frame that is too long. */
  next(): FramePart | undefined {
    return this.#headerBytes === 0 ? this.#nextWhole() : this.#nextPieces()
  }

  #nextWhole(): FramePart | undefined {
    const chunk = this.#chunk
    const from = this.#at + frameHeaderBytes
    if (from > chunk.length) return this.#nextPieces()
    const length = lengthAt(chunk, this.#at)
    const end = from + length
    if (end > chunk.length) return this.#nextPieces()
    const frame = toPart(chunk, this.#at, { payload: chunk.subarray(from, end), offset: 0, length })
    this.#at = end
    return frame
  }

  #nextPieces(): FramePart | undefined {
    if (this.#headerBytes < frameHeaderBytes) {
      this.#headerBytes += this.#copy(this.#header, this.#headerBytes)
      if (this.#headerBytes < frameHeaderBytes) return this.#wait()
      this.#offset = 0
    }
    const length = lengthAt(this.#header, 0)
    return this.isInsideData ? this.#nextData(length) : this.#nextJoined(length)
  }

  #nextData(length: number): FramePart | undefined {
    const from = this.#at
    const offset = this.#offset
    const end = Math.min(this.#chunk.length, from + length - offset)
    if (end === from && length > 0) return this.#wait()
    const payload = this.#chunk.subarray(from, end)
    this.#at = end
    this.#offset += payload.length
    if (this.#offset === length) this.#headerBytes = 0
    return toPart(this.#header, 0, { payload, offset, length })
  }

  #nextJoined(length: number): FramePart | undefined {
    this.#payload ??= Buffer.allocUnsafeSlow(length)
    const payload = this.#payload
    this.#offset += this.#copy(payload, this.#offset)
    if (this.#offset < length) return this.#wait()
    this.#headerBytes = 0
    this.#payload = undefined
    return toPart(this.#header, 0, { payload, offset: 0, length })
  }

  /** Copies what has arrived to the rest of `into`. */
  #copy(into: Buffer, from: number): number {
    const copied = this.#chunk.copy(into, from, this.#at)
    this.#at += copied
    return copied
  }

  /** A chunk that is read is not kept. */
  #wait(): undefined {
    this.#chunk = none
    this.#at = 0
  }
}

function lengthAt(bytes: Buffer, at: number): number {
  const length = bytes.readUIntBE(at, 3)
  if (length <= maxFrameBytes) return length
  throw new ConnectionError(ErrorCode.frameSizeError, 'frame is too long')
}

function toPart(
  header: Buffer,
  at: number,
  { payload, offset, length }: Pick<FramePart, 'payload' | 'offset' | 'length'>,
): FramePart {
  return {
    type: header[at + 3] as number,
    flags: header[at + 4] as number,
    streamId: header.readUInt32BE(at + 5) & 0x7fff_ffff,
    payload,
    offset,
    length,
  }
}
