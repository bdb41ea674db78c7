import { hash, randomBytes } from 'node:crypto'

/**
 * A new token id: a UUID of version 7 (RFC 9562 5.7), which begins with the time in milliseconds.
 * `orig_iat` has whole seconds only, which cannot tell whether a token of the second in which its
 * user's tokens were revoked was issued before or after that.
 */
export function createTokenId(issuedAt: number): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(issuedAt, 0, 6)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** What the id of a login to the console begins with, so that lists can tell it from a token's. */
export const consoleIdPrefix = 'console-'

/**
 * When a token was issued, in milliseconds: by its id if this gateway family made it, otherwise the
 * start of the second in the claim, so that in doubt the token counts as older. 0 without a claim.
 */
export function issueTime(id: string | undefined, issuedAtSeconds: number | undefined): number {
  if (issuedAtSeconds === undefined) return 0
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(id ?? '')
  const named = match === null ? Number.NaN : Number.parseInt(`${match[1]}${match[2]}`, 16)
  const claimed = Math.floor(issuedAtSeconds)
  return Math.floor(named / 1000) === claimed ? named : claimed * 1000
}

/**
 * The name of a token in the revocation list: its `jti` where every store can hold that. Never the
 * signature: an ECDSA signature has a second valid spelling, which would be a second, unrevoked
 * name for the same token.
 */
export function tokenName(jti: string | undefined, signingInput: string): string {
  if (jti !== undefined && /^[\x21-\x7e]{1,128}$/.test(jti)) return jti
  return hash('sha256', signingInput, 'base64')
}
