import { CompactEncrypt, compactDecrypt } from 'jose'
import type { DerivedKeys } from './derived-keys.ts'

/** Encrypts small values that leave this process, so that every replica with the same keys can open them. */
export type Sealing = ReturnType<typeof createSealing>

/**
 * JWE with direct encryption (RFC 7516, `dir` and A256GCM). The key comes from the signing key that
 * the header names, by a purpose of its own: what is sealed for one use does not open in another.
 */
export function createSealing(keys: DerivedKeys, maxBytes = 16_384) {
  return {
    /** Throws a Fault without a signing key. */
    async seal(value: Readonly<Record<string, unknown>>) {
      const { id, key } = keys.current()
      return new CompactEncrypt(Buffer.from(JSON.stringify(value)))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: id })
        .encrypt(keyBytes(key))
    },
    /** `undefined` for everything that `seal` did not make with a key that is still loaded. */
    async open(sealed: string): Promise<Readonly<Record<string, unknown>> | undefined> {
      if (sealed.length > maxBytes) return undefined
      try {
        const { plaintext } = await compactDecrypt(
          sealed,
          ({ kid }) => {
            const key = typeof kid === 'string' ? keys.find(kid) : undefined
            if (key === undefined) throw new Error('unknown key')
            return keyBytes(key)
          },
          { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] },
        )
        return JSON.parse(Buffer.from(plaintext).toString()) as Record<string, unknown>
      } catch {
        return undefined
      }
    },
  }
}

/** A derived key is the base64url text of 32 bytes. */
function keyBytes(key: string): Uint8Array {
  return Buffer.from(key, 'base64url')
}
