import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { Fault } from '../../kernel/errors.ts'
import type { DerivedKeys } from '../../token/derived-keys.ts'

/** A secret as the database keeps it. */
export interface SealedSecret {
  /** The signing key that the encryption key was derived from; empty: `jwt.secret`. */
  readonly keyId: string
  readonly sealed: string
}

/** What `createDerivedKeys` derives the encryption keys for. */
export const sealPurpose = 'totp'

const algorithm = 'aes-256-gcm'
const version = 'v1.'
const ivBytes = 12
/** Without it, OpenSSL accepts tags of four bytes. */
const authTagLength = 16

/** Encrypts the secret of an account with the current key. */
export function sealSecret(keys: DerivedKeys, userId: string, secret: Uint8Array): SealedSecret {
  const { id: keyId, key } = keys.current()
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, cipherKey(key), iv, { authTagLength })
  cipher.setAAD(place(userId, keyId))
  const text = Buffer.concat([cipher.update(secret), cipher.final()])
  const sealed = Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url')
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
  const bytes = Buffer.from(sealed.slice(version.length), 'base64url')
  try {
    if (!sealed.startsWith(version)) throw new Error('unknown version')
    const iv = bytes.subarray(0, ivBytes)
    const decipher = createDecipheriv(algorithm, cipherKey(key), iv, { authTagLength })
    decipher.setAAD(place(userId, keyId))
    decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + authTagLength))
    const text = decipher.update(bytes.subarray(ivBytes + authTagLength))
    return Buffer.concat([text, decipher.final()])
  } catch {
    throw new Fault('second-factor', {
      reason: `${of} cannot be decrypted with key ${keyName(keyId)}: the key or the row was changed; restore it, or run "postern user totp" for the user again`,
    })
  }
}

export function keyName(keyId: string): string {
  return keyId === '' ? 'jwt.secret' : keyId
}

function cipherKey(key: string): Buffer {
  return Buffer.from(key, 'base64url')
}

/** Authenticated too: a value copied to another account or column does not open. */
function place(userId: string, keyId: string): Buffer {
  return Buffer.from(JSON.stringify(['postern_totp', 'sealed', userId, keyId]))
}
