import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { type CryptoKey, importJWK, type JWK } from 'jose'

export type Algorithm = 'HS256' | 'RS256' | 'ES256' | 'EdDSA'

/** A key that checks signatures, bound to the one algorithm it may be used with. */
export interface VerifyingKey {
  readonly kid: string | undefined
  readonly algorithm: Algorithm
  readonly key: CryptoKey
}

/** A key that also signs. */
export interface SigningKey extends VerifyingKey {
  readonly signer: CryptoKey
}

/** A key that cannot be trusted with tokens. The message never holds key material. */
export class WeakKey extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'WeakKey'
  }
}

/** HS256 from a shared secret. `minimumBytes` is lower only where the mode allows weak secrets. */
export async function secretKey(secret: string, minimumBytes = 32): Promise<SigningKey> {
  const bytes = new TextEncoder().encode(secret)
  if (bytes.length < minimumBytes) {
    throw new WeakKey(`an HS256 secret needs at least ${minimumBytes} bytes`)
  }
  const jwk = { kty: 'oct', k: Buffer.from(bytes).toString('base64url') }
  const key = await imported(jwk, 'HS256')
  return { kid: undefined, algorithm: 'HS256', key, signer: key }
}

/**
 * A verifying key from a JWK. Refuses what jose would take: short HMAC keys, RSA keys below 2048
 * bits or with a small exponent, keys meant for something else, private parts in a public place.
 */
export async function verifyingKey(jwk: JsonWebKey & JWK): Promise<VerifyingKey> {
  const algorithm = algorithmOf(jwk)
  if (jwk.use !== undefined && jwk.use !== 'sig') throw new WeakKey('the key is not for signatures')
  if (jwk.key_ops !== undefined && !jwk.key_ops.includes('verify')) {
    throw new WeakKey('the key is not for verifying')
  }
  if (algorithm === 'HS256') refuseShortSecret(jwk)
  else refuseWeakPublicKey(publicKey(jwk))

  return { kid: jwk.kid, algorithm, key: await imported(publicPart(jwk), algorithm) }
}

/**
 * Several verifying keys at once. Refuses a set in which a token could choose between keys: one
 * `kid` for two of them, or a shared secret beside public keys.
 */
export async function verifyingKeys(jwks: readonly (JsonWebKey & JWK)[]): Promise<VerifyingKey[]> {
  const keys = await Promise.all(jwks.map(verifyingKey))
  const kids = keys.map((key) => key.kid)
  if (new Set(kids).size < kids.length) throw new WeakKey('two keys have one kid')
  const secrets = keys.filter((key) => key.algorithm === 'HS256').length
  if (secrets > 0 && secrets < keys.length) {
    throw new WeakKey('a shared secret does not belong among public keys')
  }
  return keys
}

/** The algorithm comes from the key, never from the token (CVE-2015-9235, CVE-2026-22817). */
function algorithmOf(jwk: JWK): Algorithm {
  const natural = naturalAlgorithm(jwk)
  if (natural === undefined) throw new WeakKey('the key type is not supported')
  if (jwk.alg !== undefined && jwk.alg !== natural) {
    throw new WeakKey('the key names an algorithm that is not supported for its type')
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

function refuseShortSecret({ k = '' }: JWK): void {
  if (Buffer.from(k, 'base64url').length < 32) {
    throw new WeakKey('an HS256 secret needs at least 32 bytes')
  }
}

function refuseWeakPublicKey(key: KeyObject): void {
  if (key.asymmetricKeyType !== 'rsa') return
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {}
  if (modulusLength < 2048) throw new WeakKey('an RSA key needs at least 2048 bits')
  if (publicExponent < 65537n) throw new WeakKey('an RSA key needs an exponent of at least 65537')
  const { n = '' } = key.export({ format: 'jwk' })
  if (isRocaModulus(BigInt(`0x${Buffer.from(n, 'base64url').toString('hex')}`))) {
    throw new WeakKey('the RSA key has the ROCA weakness (CVE-2017-15361)')
  }
}

const rocaPrimes = [
  3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101,
  103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
]

/**
 * The chips behind CVE-2017-15361 made primes of a form that leaves every modulus, taken modulo
 * each small prime, among the powers of 65537. For other keys that is all but impossible.
 */
function isRocaModulus(modulus: bigint): boolean {
  return rocaPrimes.every((prime) => {
    const rest = Number(modulus % BigInt(prime))
    for (let power = 1, step = 0; step < prime; step++) {
      if (power === rest) return true
      power = (power * 65537) % prime
    }
    return false
  })
}

/** Also refuses a point that is not on its curve: the import itself checks that. */
function publicKey(jwk: JsonWebKey & JWK): KeyObject {
  try {
    const source = { key: jwk, format: 'jwk' } as const
    return createPublicKey(jwk.d === undefined ? source : createPrivateKey(source))
  } catch {
    throw new WeakKey('the key cannot be read')
  }
}

function publicPart(jwk: JWK): JWK {
  if (jwk.kty === 'oct') return { kty: 'oct', k: jwk.k ?? '' }
  const { kty, crv, x, y, n, e } = jwk
  return Object.fromEntries(
    Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined),
  ) as JWK
}

async function imported(jwk: JWK, algorithm: Algorithm): Promise<CryptoKey> {
  const key = await importJWK(jwk, algorithm)
  if (!(key instanceof Uint8Array)) return key
  // importJWK hands symmetric keys back as bytes; a CryptoKey verifies in half the time.
  return globalThis.crypto.subtle.importKey(
    'raw',
    new Uint8Array(key),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign', 'verify'],
  )
}
