import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { type CryptoKey, calculateJwkThumbprint, importJWK, type JWK } from 'jose'
import { refuseWeakPublicKey, WeakKey } from '../weak-keys.ts'
import type { IssuerAlgorithm } from './issuer.ts'

/** A public key of another issuer, bound to one algorithm. */
export type IssuerKey = Awaited<ReturnType<typeof readIssuerKeys>>[number]

const maxKidLength = 256

/**
 * Reads one key of a key set, once for each accepted algorithm that fits it: the algorithm comes from
 * the configuration and the key, never from the token. Throws `WeakKey` if the key is unusable.
 */
export async function readIssuerKeys(jwk: JsonWebKey & JWK, accepted: readonly IssuerAlgorithm[]) {
  const { kid, kty, crv, x, y, n, e } = jwk
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > maxKidLength)) {
    throw new WeakKey(`"kid" is not a text of at most ${maxKidLength} characters`)
  }
  if (kty === 'oct') throw new WeakKey('a shared secret must not be published')
  if (jwk.d !== undefined) throw new WeakKey('a private key must not be published')
  refuseOtherUse(jwk)
  const algorithms = accepted.filter((one) => fits(one, jwk))
  if (algorithms.length === 0) throw new WeakKey('no accepted algorithm fits it')

  const source = Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined)
  const part = Object.fromEntries(source) as JsonWebKey & JWK
  refuseWeak(part)
  const thumbprint = await calculateJwkThumbprint(part)
  return Promise.all(
    algorithms.map(async (algorithm) => {
      const key = await importedFor(part, algorithm)
      // `identity` is equal for the same key and algorithm, whatever the `kid`.
      return { kid, algorithm, key, identity: `${thumbprint} ${algorithm}` }
    }),
  )
}

function refuseOtherUse({ use, key_ops: operations }: JWK): void {
  if (use !== undefined && use !== 'sig') throw new WeakKey('"use" does not allow signatures')
  if (operations === undefined) return
  if (!Array.isArray(operations) || !operations.includes('verify')) {
    throw new WeakKey('"key_ops" does not allow verifying')
  }
}

const curves: Readonly<Record<string, string>> = {
  ...{ ES256: 'P-256', ES384: 'P-384', ES512: 'P-521', EdDSA: 'Ed25519' },
}

function fits(algorithm: IssuerAlgorithm, { kty, crv, alg }: JWK): boolean {
  if (alg !== undefined && alg !== algorithm) return false
  if (algorithm === 'EdDSA') return kty === 'OKP' && crv === curves[algorithm]
  if (algorithm.startsWith('ES')) return kty === 'EC' && crv === curves[algorithm]
  return kty === 'RSA'
}

/** The import also rejects a point that is not on its curve. */
function refuseWeak(part: JsonWebKey & JWK): void {
  try {
    refuseWeakPublicKey(createPublicKey({ key: part, format: 'jwk' }))
  } catch (error) {
    throw error instanceof WeakKey ? error : unreadable()
  }
}

async function importedFor(part: JWK, algorithm: IssuerAlgorithm): Promise<CryptoKey> {
  try {
    const key = await importJWK(part, algorithm)
    if (!(key instanceof Uint8Array)) return key
  } catch {
    // Rethrown below without the reason, which could quote the key.
  }
  throw unreadable()
}

function unreadable(): WeakKey {
  return new WeakKey('the key is unreadable')
}
