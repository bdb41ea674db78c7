import { type Frame, frameHeaderBytes } from '../../src/h2/frames.ts'

/** Cuts what a peer sends into complete frames. */
export class WholeFrames {
  #bytes: Buffer = Buffer.alloc(0)

  /** The frames that are complete with this chunk. */
  read(chunk: Buffer): Frame[] {
    const bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
    const frames: Frame[] = []
    let at = 0
    while (bytes.length - at >= frameHeaderBytes) {
      const end = at + frameHeaderBytes + bytes.readUIntBE(at, 3)
      if (end > bytes.length) break
      frames.push({
        type: bytes.readUInt8(at + 3),
        flags: bytes.readUInt8(at + 4),
        streamId: bytes.readUInt32BE(at + 5) & 0x7fff_ffff,
        payload: bytes.subarray(at + frameHeaderBytes, end),
      })
      at = end
    }
    this.#bytes = bytes.subarray(at)
    return frames
  }
}
