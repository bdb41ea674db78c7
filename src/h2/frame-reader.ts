import { ConnectionError, ErrorCode } from './error-codes.ts'
import { type Frame, FrameType, frameHeaderBytes, maxFrameBytes } from './frames.ts'

const none = Buffer.alloc(0)

/**
 * Cuts the bytes of a connection into frames. A payload is a part of the chunk it arrived in, or of a
 * copy if it arrived in pieces: a frame that arrives byte by byte takes no more memory than its length.
 */
export class FrameReader {
  #chunk: Buffer = none
  #at = 0
  readonly #header = Buffer.alloc(frameHeaderBytes)
  /** How much of a header that arrived in pieces is there. */
  #headerBytes = 0
  /** The payload of a frame that arrived in pieces, once its header is complete. */
  #payload: Buffer | undefined
  #payloadBytes = 0

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
    return this.#payload !== undefined && this.#header[3] === FrameType.data
  }

  /** `undefined` until another frame is complete. Throws for one that is too long. */
  next(): Frame | undefined {
    return this.#headerBytes === 0 ? this.#nextWhole() : this.#nextPieces()
  }

  #nextWhole(): Frame | undefined {
    const chunk = this.#chunk
    const from = this.#at + frameHeaderBytes
    if (from > chunk.length) return this.#nextPieces()
    const length = lengthAt(chunk, this.#at)
    const end = from + length
    if (end > chunk.length) return this.#nextPieces()
    const frame = toFrame(chunk, this.#at, chunk.subarray(from, end))
    this.#at = end
    return frame
  }

  #nextPieces(): Frame | undefined {
    if (this.#headerBytes < frameHeaderBytes) {
      this.#headerBytes += this.#take(this.#header, this.#headerBytes)
      if (this.#headerBytes < frameHeaderBytes) return this.#wait()
      this.#payload = Buffer.allocUnsafeSlow(lengthAt(this.#header, 0))
      this.#payloadBytes = 0
    }
    const payload = this.#payload as Buffer
    this.#payloadBytes += this.#take(payload, this.#payloadBytes)
    if (this.#payloadBytes < payload.length) return this.#wait()
    this.#headerBytes = 0
    this.#payload = undefined
    return toFrame(this.#header, 0, payload)
  }

  /** Copies what has arrived to the rest of `into`. */
  #take(into: Buffer, from: number): number {
    const taken = this.#chunk.copy(into, from, this.#at)
    this.#at += taken
    return taken
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

function toFrame(header: Buffer, at: number, payload: Buffer): Frame {
  return {
    type: header[at + 3] as number,
    flags: header[at + 4] as number,
    streamId: header.readUInt32BE(at + 5) & 0x7fff_ffff,
    payload,
  }
}
