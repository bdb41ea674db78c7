import { Fault } from '../../../kernel/errors.ts'
import type { RedisClient } from '../../redis/redis.ts'

/**
 * The largest document that gateways and commands read: 1,000,000 rules of 134 bytes each. Anyone who
 * can write to Redis can store more, and must not choose how much memory a gateway takes.
 */
export const maxDocumentBytes = 128 * 1024 * 1024

/** From so many bytes on, a policy gets a thread: some 13,000 rules. */
export const largeBytes = 640 * 1024

/** Little enough that taking it off the connection does not hold up requests. */
const pieceBytes = 128 * 1024

/** Piece size for commands, which have no requests to delay; one reply has less than `maxReplyBytes`. */
const commandPieceBytes = 16 * 1024 * 1024

/**
 * The bytes of a stored document, piece by piece; `undefined` when it does not exist. A document
 * never changes; one that is deleted meanwhile comes back cut short, which its checksum shows. Throws a
 * Fault for one that is too large, after its first piece.
 */
export async function readPieces(
  redis: RedisClient,
  key: string,
  nextBytes = pieceBytes,
): Promise<readonly Uint8Array[] | undefined> {
  const pieces: Uint8Array[] = []
  for (let start = 0, length = largeBytes; start < maxDocumentBytes; ) {
    const bytes = await readRange(redis, key, { start, length })
    // Shared memory does not count for the garbage collector: a large policy would set it off.
    const piece = new Uint8Array(new SharedArrayBuffer(bytes.length))
    piece.set(bytes)
    pieces.push(piece)
    if (bytes.length < length)
      return start + bytes.length > 0 ? pieces : ifPresent(redis, key, pieces)
    if (start === 0) await refuseTooLarge(redis, key)
    start += length
    length = nextBytes
  }
  // It grew meanwhile.
  throw tooLarge(key)
}

/** Reads the document as text, for commands. */
export async function readStoredText(redis: RedisClient, key: string): Promise<string | undefined> {
  const pieces = await readPieces(redis, key, commandPieceBytes)
  return pieces && Buffer.concat(pieces).toString()
}

function readRange(
  redis: RedisClient,
  key: string,
  { start, length }: { readonly start: number; readonly length: number },
): Promise<Buffer> {
  return redis.runBulk((commands) => commands.getrangeBuffer(key, start, start + length - 1))
}

/** Reads one byte after the last possible one: STRLEN would be one more right for the Redis user. */
async function refuseTooLarge(redis: RedisClient, key: string): Promise<void> {
  const beyond = await readRange(redis, key, { start: maxDocumentBytes, length: 1 })
  if (beyond.length > 0) throw tooLarge(key)
}

/** A missing key has no bytes, and neither has an empty one. */
async function ifPresent<T>(redis: RedisClient, key: string, value: T): Promise<T | undefined> {
  return (await redis.run((commands) => commands.exists(key))) === 0 ? undefined : value
}

function tooLarge(key: string): Fault {
  const most = `${maxDocumentBytes / 1024 / 1024} MiB`
  const reason = `${key} has more than ${most}, which no policy has: delete that key and push the policy again`
  return new Fault('redis', { reason })
}
