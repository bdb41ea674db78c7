import { ConnectionError, ErrorCode } from './error-codes.ts'
import { type Frame, frameHeaderBytes, maxFrameBytes } from './frames.ts'

const none = Buffer.alloc(0)

/**
 * Cuts the bytes of a connection into frames. A payload is a part of the chunk it arrived in, or of a
 * copy if it arrived in pieces.
 */
export class FrameReader {
  #rest: Buffer[] = []
  #restBytes = 0
  /** How many bytes are needed before there can be another frame. */
  #needed = frameHeaderBytes

  push(chunk: Buffer): void {
    if (chunk.length === 0) return
    this.#rest.push(chunk)
    this.#restBytes += chunk.length
  }

  /** The bytes of an incomplete frame. */
  get waiting(): number {
    return this.#restBytes
  }

  /** `undefined` until another frame is complete. Throws for one that is too long. */
  next(): Frame | undefined {
    if (this.#restBytes < this.#needed) return undefined
    const bytes = this.#rest.length === 1 ? (this.#rest[0] as Buffer) : Buffer.concat(this.#rest)
    const length = bytes.readUIntBE(0, 3)
    if (length > maxFrameBytes) {
      throw new ConnectionError(ErrorCode.frameSizeError, 'frame is too long')
    }
    const end = frameHeaderBytes + length
    if (bytes.length < end) {
      this.#keep(bytes)
      this.#needed = end
      return undefined
    }
    this.#keep(bytes.length === end ? none : bytes.subarray(end))
    this.#needed = frameHeaderBytes
    return {
      type: bytes[3] as number,
      flags: bytes[4] as number,
      streamId: bytes.readUInt32BE(5) & 0x7fff_ffff,
      payload: bytes.subarray(frameHeaderBytes, end),
    }
  }

  #keep(bytes: Buffer): void {
    this.#rest = bytes.length === 0 ? [] : [bytes]
    this.#restBytes = bytes.length
  }
}
