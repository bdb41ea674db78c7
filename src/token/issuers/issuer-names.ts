import { hash } from 'node:crypto'

/**
 * The name in the revocation list of a token of another issuer. A digest, because every issuer chooses
 * its own `jti`, which may equal that of another issuer, or be longer than the columns of a store.
 */
export function issuerTokenName(
  issuer: string,
  jti: string | undefined,
  signingInput: string,
): string {
  return digest(jti === undefined ? ['token', issuer, signingInput] : ['jti', issuer, jti])
}

/** The name there of a user of another issuer: never that of an account of ours, which has digits. */
export function issuerSubject(issuer: string, userId: string): string {
  // The column has 32 characters: 192 bits.
  return digest(['user', issuer, userId]).slice(0, 32)
}

function digest(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url')
}
