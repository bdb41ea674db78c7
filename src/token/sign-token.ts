import { CompactSign } from 'jose'
import { Fault } from '../kernel/errors.ts'
import type { Caller } from './caller.ts'
import type { CarriedClaims } from './carried-claims.ts'
import { type OwnKind, writePayload } from './claims.ts'
import { signerOf } from './derived-keys.ts'
import type { KeySet } from './key-set.ts'
import { createTokenId } from './token-id.ts'

/**
 * Seconds since the epoch, before the date of this release. A clock that shows less is wrong and would
 * write wrong times into tokens. Raise it with each release.
 */
const earliestTime = Date.UTC(2026, 10, 1) / 1000

/** A new token, with what names it later. */
export type IssuedToken = Awaited<ReturnType<typeof signToken>>

/** Writes and signs a token of ours. Throws a Fault without a signing key. */
export async function signToken(
  keys: KeySet,
  caller: Caller,
  parts: {
    readonly kind: OwnKind
    readonly issuedAtMs: number
    readonly lifetimeSeconds: number
    readonly claims?: CarriedClaims | undefined
  },
) {
  const { kid, algorithm, signer } = signerOf(keys)
  const { kind, issuedAtMs, lifetimeSeconds, claims } = parts
  const issuedAt = Math.floor(issuedAtMs / 1000)
  if (issuedAt < earliestTime)
    throw new Fault('clock', { reason: 'the system clock is years behind' })
  const expiresAt = issuedAt + lifetimeSeconds
  const id = createTokenId(issuedAtMs)
  const token = await new CompactSign(
    writePayload(caller, { issuedAt, expiresAt, tokenId: id }, kind, claims),
  )
    .setProtectedHeader({ alg: algorithm, typ: 'JWT', ...(kid !== undefined && { kid }) })
    .sign(signer)
  // `kid` is undefined for the shared secret.
  return { token, id, kid, issuedAt: issuedAtMs, expiresAt: new Date(expiresAt * 1000) }
}
