/** A full frame of 16 KiB in the 64 KiB that a socket reads is not copied. */
const mostKept = 4

/**
 * Data of a frame that may be kept for a while. A frame is a part of what the socket read at once. To keep
 * a small one must not keep all of that: a peer could fill the rest with frames that no limit counts
 * as this body.
 */
export function withoutRest(chunk: Buffer): Buffer {
  if (chunk.length * mostKept >= chunk.buffer.byteLength) return chunk
  const copy = Buffer.allocUnsafeSlow(chunk.length)
  chunk.copy(copy)
  return copy
}
