/** The size of one read from a connection. */
const bufferBytes = 65_536
/**
 * Shorter chunks are allocated, which is cheap. A pooled buffer for each chunk of 16 KiB that TLS
 * decrypts would hold three times the memory for a client that does not read.
 */
const minPooledBytes = 32_768
/** At most 4 MB of free buffers. */
const maxFree = 64

const free: Buffer[] = []

/** Memory for a chunk of a response on its way to a client. */
export interface PooledBuffer {
  /** Not zeroed. */
  readonly bytes: Buffer
  /**
   * Returns the buffer to the pool; the next response overwrites it. Call it only when the bytes have
   * been sent. A buffer that is never released is garbage-collected.
   */
  readonly release: () => void
}

/**
 * A buffer of that length. Large chunks are the worst case for allocator and garbage collector: with
 * an allocation for each, responses of 100 KiB cost more than twice as much, and the process grew by
 * 130 MB.
 */
export function takeBuffer(length: number): PooledBuffer {
  if (length < minPooledBytes || length > bufferBytes) {
    return { bytes: Buffer.allocUnsafe(length), release: doNothing }
  }
  let buffer: Buffer | undefined = free.pop() ?? Buffer.allocUnsafeSlow(bufferBytes)
  return {
    bytes: buffer.subarray(0, length),
    release() {
      // Released twice, it would hold the responses of two clients at once.
      if (buffer !== undefined && free.length < maxFree) free.push(buffer)
      buffer = undefined
    },
  }
}

function doNothing(): void {}
