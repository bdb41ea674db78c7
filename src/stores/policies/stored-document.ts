import type { Verified } from '../../signing/trust.ts'
import type { RedisClient } from '../redis/redis.ts'
import { parseDocument } from './document/policy-document.ts'
import { type Head, policyKeys } from './document/policy-keys.ts'
import type { LargeOffer, Offer } from './policy-source.ts'
import { createPolicyThreads, largeBytes } from './policy-threads.ts'
import type { TrustGate } from './trust-gate.ts'

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

interface OfferOptions {
  /** At the start there are no requests to delay. */
  readonly isFirst: boolean
  /** The signed statement about the document; present if there is a gate. */
  readonly verified: Verified | undefined
  readonly signal: AbortSignal | undefined
}

interface DocumentOptions {
  /** Whether the thread that loads a large document creates a snapshot as well. */
  readonly snapshot: boolean
  /** Without it, documents need no signatures. */
  readonly gate?: TrustGate | undefined
}

/**
 * Reads stored documents as offers, verified; `undefined` when one does not exist. A thread loads
 * what is large.
 */
export function createDocumentOffers(redis: RedisClient, { snapshot, gate }: DocumentOptions) {
  const keys = policyKeys(redis.prefix)
  const threads = createPolicyThreads()

  return async function readOffer(
    head: Head,
    { isFirst, verified, signal }: OfferOptions,
  ): Promise<Offer | LargeOffer | undefined> {
    const { revision, sequence, author } = head
    const facts = { revision, sequence, ...(author !== undefined && { author }) }
    const pieces = await readPieces(redis, keys.document(revision))
    if (pieces === undefined) return undefined
    if (sizeOf(pieces) < largeBytes || isFirst || !threads.usable()) {
      const document = Buffer.concat(pieces).toString()
      const { files, checksum } = parseDocument(document, revision)
      if (verified === undefined) return { files, checksum, ...facts }
      gate?.checkDocument(verified, checksum)
      return { files, checksum, ...facts, verified, document }
    }
    const order = { kind: 'document', pieces, ...facts, verified, snapshot } as const
    const loading = threads.start(order, signal)
    const checksum = await loading.verified
    if (verified === undefined) return { loading, checksum, ...facts }
    try {
      gate?.checkDocument(verified, checksum)
    } catch (error) {
      loading.end()
      throw error
    }
    return { loading, checksum, ...facts, verified }
  }
}

function sizeOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((size, { length }) => size + length, 0)
}
