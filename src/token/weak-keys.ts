import type { KeyObject } from 'node:crypto'

/** A key that is too weak or unusable for tokens. The message never contains key material. */
export class WeakKey extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'WeakKey'
  }
}

/** RFC 7518 3.2: the secret has at least as many bytes as the hash. */
export function refuseShortSecret(bytes: Uint8Array, minimumBytes = 32): void {
  if (bytes.length < minimumBytes) {
    throw new WeakKey(`an HS256 secret needs at least ${minimumBytes} bytes`)
  }
}

/** Rejects RSA keys that are short, have a small exponent or come from a broken generator. */
export function refuseWeakPublicKey(key: KeyObject): void {
  if (key.asymmetricKeyType !== 'rsa') return
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {}
  if (modulusLength < 2048) throw new WeakKey('an RSA key needs at least 2048 bits')
  // Every login signs with it: 16,384 bits would occupy a thread for seconds.
  if (modulusLength > 8192) throw new WeakKey('an RSA key may have at most 8192 bits')
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
