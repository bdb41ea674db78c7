import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const ivBytes = 12
/** Without it, OpenSSL accepts tags of four bytes. */
const authTagLength = 16

/** The key of a secret of any length. */
export function cipherKey(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/**
 * Encrypts with a key of 32 bytes. `about` is authenticated and not part of the result: what was
 * encrypted about one thing cannot be passed off as being about another.
 */
export function encrypt(key: Buffer, content: string | Uint8Array, about = ''): string {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength })
  cipher.setAAD(Buffer.from(about))
  const encrypted = [cipher.update(Buffer.from(content)), cipher.final()]
  return Buffer.concat([iv, cipher.getAuthTag(), ...encrypted]).toString('base64url')
}

/** `undefined` for what `encrypt` did not return for this key and this `about`. */
export function decrypt(key: Buffer, text: string, about = ''): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  const start = ivBytes + authTagLength
  if (bytes.length < start) return undefined
  const iv = bytes.subarray(0, ivBytes)
  const decipher = createDecipheriv(algorithm, key, iv, { authTagLength })
  decipher.setAAD(Buffer.from(about))
  decipher.setAuthTag(bytes.subarray(ivBytes, start))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()])
  } catch {
    return undefined
  }
}
