import type { Verified } from '../../signing/trust.ts'
import type { RedisClient } from '../redis/redis.ts'
import { checksumOfStored, parseDocument } from './document/policy-document.ts'
import { type Head, policyKeys } from './document/policy-keys.ts'
import { largeBytes, readPieces } from './document/stored-text.ts'
import type { LargeOffer, Offer } from './policy-source.ts'
import { createPolicyThreads } from './policy-threads.ts'
import type { TrustGate } from './trust-gate.ts'

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
    // Before parsing: an unsigned document must not take more memory than its bytes.
    if (verified !== undefined) gate?.checkDocument(verified, await checksumOfStored(pieces))
    if (sizeOf(pieces) < largeBytes || isFirst || !threads.usable()) {
      const document = Buffer.concat(pieces).toString()
      const { files, checksum } = parseDocument(document, revision)
      if (verified === undefined) return { files, checksum, ...facts }
      return { files, checksum, ...facts, verified, document }
    }
    const order = { kind: 'document', pieces, ...facts, verified, snapshot } as const
    const loading = threads.start(order, signal)
    const checksum = await loading.verified
    return { loading, checksum, ...facts, ...(verified !== undefined && { verified }) }
  }
}

function sizeOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((size, { length }) => size + length, 0)
}
