import { Fault } from '../../kernel/errors.ts'
import type { DerivedKeys } from '../../token/derived-keys.ts'
import { decrypt, encrypt } from '../authenticated-cipher.ts'

/** A secret as the database keeps it. */
export interface SealedSecret {
  /** The signing key that the encryption key was derived from; empty: `jwt.secret`. */
  readonly keyId: string
  readonly sealed: string
}

/** What `createDerivedKeys` derives the encryption keys for. */
export const sealPurpose = 'totp'

const version = 'v1.'

/** Encrypts the secret of an account with the current key. */
export function sealSecret(keys: DerivedKeys, userId: string, secret: Uint8Array): SealedSecret {
  const { id: keyId, key } = keys.current()
  const sealed = encrypt(cipherKey(key), secret, place(userId, keyId))
  return { keyId, sealed: `${version}${sealed}` }
}

/** Throws a Fault when the key is not loaded, or when the value is not of this account or was changed. */
export function openSecret(
  keys: DerivedKeys,
  userId: string,
  { keyId, sealed }: SealedSecret,
): Uint8Array {
  const key = keys.find(keyId)
  const of = `one-time codes of user ID ${userId}`
  if (key === undefined) {
    throw new Fault('second-factor', {
      reason: `${of} are encrypted with key ${keyName(keyId)}, which is not loaded: restore it, or run "postern user totp" for the user again`,
    })
  }
  const secret = sealed.startsWith(version)
    ? decrypt(cipherKey(key), sealed.slice(version.length), place(userId, keyId))
    : undefined
  if (secret !== undefined) return secret
  throw new Fault('second-factor', {
    reason: `${of} cannot be decrypted with key ${keyName(keyId)}: the key or the row was changed; restore it, or run "postern user totp" for the user again`,
  })
}

export function keyName(keyId: string): string {
  return keyId === '' ? 'jwt.secret' : keyId
}

function cipherKey(key: string): Buffer {
  return Buffer.from(key, 'base64url')
}

/** Authenticated too: a value copied to another account or column does not open. */
function place(userId: string, keyId: string): string {
  return JSON.stringify(['postern_totp', 'sealed', userId, keyId])
}
