import type { RedisClient } from '../redis/redis.ts'
import { largeBytes } from './policy-threads.ts'

/** Little enough that taking it off the connection does not hold up requests. */
const pieceBytes = 128 * 1024

/**
 * The bytes of a stored document, piece by piece; `undefined` when it does not exist. A document
 * never changes; one that is deleted meanwhile comes back cut short, which its checksum shows.
 */
export async function readPieces(
  redis: RedisClient,
  key: string,
): Promise<readonly Uint8Array[] | undefined> {
  const pieces: Uint8Array[] = []
  for (let start = 0, length = largeBytes; ; start += length, length = pieceBytes) {
    const end = start + length - 1
    const bytes = await redis.runBulk((commands) => commands.getrangeBuffer(key, start, end))
    // Shared memory does not count for the garbage collector: a large policy would set it off.
    const piece = new Uint8Array(new SharedArrayBuffer(bytes.length))
    piece.set(bytes)
    pieces.push(piece)
    if (bytes.length === length) continue
    if (start + bytes.length > 0) return pieces
    // A missing key has no bytes either.
    const found = await redis.run((commands) => commands.exists(key))
    return found === 0 ? undefined : pieces
  }
}
