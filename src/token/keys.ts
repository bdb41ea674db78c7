import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  hash,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto'
import { type CryptoKey, importJWK, type JWK } from 'jose'
import { refuseShortSecret, refuseWeakPublicKey, WeakKey } from './weak-keys.ts'

export type Algorithm = 'HS256' | 'RS256' | 'ES256' | 'EdDSA'

/** A key that verifies signatures, bound to one algorithm. */
export interface VerifyingKey {
  readonly kid: string | undefined
  readonly algorithm: Algorithm
  readonly key: CryptoKey
  /** Equal for equal keys, whatever their names. Reveals nothing about a secret. */
  readonly identity: string
  /** The public part; `undefined` for a shared secret. */
  readonly publicJwk: JWK | undefined
}

/** A key that also signs. */
export interface SigningKey extends VerifyingKey {
  readonly signer: CryptoKey
  /**
   * A secret for another purpose, equal on every replica with this private key. Reveals nothing about
   * the key or the secrets of other purposes.
   */
  derive(purpose: string): string
}

/** HS256 from a shared secret. `minimumBytes` is lower only where the mode allows weak secrets. */
export async function secretKey(secret: string, minimumBytes = 32): Promise<SigningKey> {
  const bytes = Buffer.from(secret)
  refuseShortSecret(bytes, minimumBytes)
  return sharedKey(undefined, bytes)
}

/**
 * A verifying key from a JWK, without its private part. Rejects keys that jose would accept: short
 * HMAC keys, RSA keys below 2048 bits or with a small exponent, keys for another use.
 */
export async function verifyingKey(jwk: JsonWebKey & JWK): Promise<VerifyingKey> {
  const algorithm = algorithmOf(jwk)
  refuseOtherUse(jwk)
  if (algorithm === 'HS256') return sharedKey(jwk.kid, sharedBytes(jwk))

  const key = publicKey(jwk)
  refuseWeakPublicKey(key)
  const part = key.export({ format: 'jwk' }) as JWK
  const publicJwk = {
    ...part,
    use: 'sig',
    alg: algorithm,
    ...(jwk.kid !== undefined && { kid: jwk.kid }),
  }
  const identity = hash('sha256', JSON.stringify(part), 'base64url')
  return { kid: jwk.kid, algorithm, key: await imported(part, algorithm), identity, publicJwk }
}

/** A signing key from a JWK; `undefined` without a private part or if `key_ops` does not allow signing. */
export async function signingKey(jwk: JsonWebKey & JWK): Promise<SigningKey | undefined> {
  const algorithm = algorithmOf(jwk)
  const { key_ops: operations, ...rest } = jwk
  if (operations !== undefined && !operations.includes('sign')) return undefined
  refuseOtherUse(rest)
  if (algorithm === 'HS256') return sharedKey(jwk.kid, sharedBytes(jwk))
  if (jwk.d === undefined) return undefined

  const verifying = await verifyingKey(rest)
  const signer = await imported(privatePart(jwk), algorithm)
  return { ...verifying, signer, derive: deriveFrom(Buffer.from(jwk.d, 'base64url')) }
}

async function sharedKey(kid: string | undefined, bytes: Uint8Array): Promise<SigningKey> {
  // A CryptoKey verifies in half the time of raw bytes, which importJWK would return.
  const key = await globalThis.crypto.subtle.importKey(
    'raw',
    new Uint8Array(bytes),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign', 'verify'],
  )
  const derive = deriveFrom(bytes)
  const identity = derive('identity')
  return { kid, algorithm: 'HS256', key, signer: key, identity, publicJwk: undefined, derive }
}

function sharedBytes({ k = '' }: JWK): Uint8Array {
  const bytes = Buffer.from(k, 'base64url')
  refuseShortSecret(bytes)
  return bytes
}

/** Cached: purposes are a few fixed words, and every login needs several of them. */
function deriveFrom(material: Uint8Array): SigningKey['derive'] {
  const derived = new Map<string, string>()
  return (purpose) => {
    const known = derived.get(purpose)
    if (known !== undefined) return known
    const secret = createHmac('sha256', material).update(`postern:${purpose}`).digest('base64url')
    derived.set(purpose, secret)
    return secret
  }
}

/** The algorithm comes from the key, never from the token (CVE-2015-9235, CVE-2026-22817). */
function algorithmOf(jwk: JWK): Algorithm {
  const natural = naturalAlgorithm(jwk)
  if (natural === undefined) {
    throw new WeakKey('unsupported key type: use RSA, EC on P-256, Ed25519 or a shared secret')
  }
  if (jwk.alg !== undefined && jwk.alg !== natural) {
    throw new WeakKey('"alg" does not match the key type')
  }
  return natural
}

function naturalAlgorithm({ kty, crv }: JWK): Algorithm | undefined {
  if (kty === 'oct') return 'HS256'
  if (kty === 'RSA') return 'RS256'
  if (kty === 'EC' && crv === 'P-256') return 'ES256'
  if (kty === 'OKP' && crv === 'Ed25519') return 'EdDSA'
  return undefined
}

function refuseOtherUse({ use, key_ops: operations }: JWK): void {
  if (use !== undefined && use !== 'sig') throw new WeakKey('"use" does not allow signatures')
  if (operations !== undefined && !operations.includes('verify')) {
    throw new WeakKey('"key_ops" does not allow verifying')
  }
}

/** The import also rejects a point that is not on its curve. */
function publicKey(jwk: JsonWebKey & JWK): KeyObject {
  try {
    const source = { key: jwk, format: 'jwk' } as const
    return createPublicKey(jwk.d === undefined ? source : createPrivateKey(source))
  } catch {
    throw new WeakKey('the key is unreadable')
  }
}

function privatePart({ kty, crv, x, y, n, e, d, p, q, dp, dq, qi }: JWK): JWK {
  return Object.fromEntries(
    Object.entries({ kty, crv, x, y, n, e, d, p, q, dp, dq, qi }).filter(
      ([, value]) => value !== undefined,
    ),
  ) as JWK
}

async function imported(jwk: JWK, algorithm: Algorithm): Promise<CryptoKey> {
  try {
    const key = await importJWK(jwk, algorithm)
    if (!(key instanceof Uint8Array)) return key
  } catch {
    // Rethrown below without the reason, which could quote the key.
  }
  throw new WeakKey('the key is unreadable')
}
