import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import type { DerivedKeys } from '../../token/derived-keys.ts'

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const authTagLength = 16

/**
 * Encrypts the text of a captcha for the address of its picture and of its sound, so that both have the
 * same answer on every replica without a second store. The text ends at `expiresAt`, in seconds.
 */
export function sealText(keys: DerivedKeys, text: string, expiresAt: number): string {
  const { id, key } = keys.current()
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, cipherKey(key), iv, { authTagLength })
  const sealed = [cipher.update(`${Math.floor(expiresAt)}:${text}`, 'utf8'), cipher.final()]
  const bytes = Buffer.concat([iv, cipher.getAuthTag(), ...sealed])
  return `${bytes.toString('base64url')}.${id}`
}

/** `undefined` for what is expired, was sealed with another key, or is not sealed at all. */
export function openText(keys: DerivedKeys, sealed: string, now: number): string | undefined {
  const dot = sealed.indexOf('.')
  const key = dot === -1 ? undefined : keys.find(sealed.slice(dot + 1))
  const bytes = Buffer.from(sealed.slice(0, dot), 'base64url')
  if (key === undefined || bytes.length < ivBytes + authTagLength) return undefined
  const iv = bytes.subarray(0, ivBytes)
  const decipher = createDecipheriv(algorithm, cipherKey(key), iv, { authTagLength })
  decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + authTagLength))
  try {
    const opened = decipher.update(bytes.subarray(ivBytes + authTagLength), undefined, 'utf8')
    const [expiresAt, text] = (opened + decipher.final('utf8')).split(':')
    return Number(expiresAt) > now ? text : undefined
  } catch {
    return undefined
  }
}

function cipherKey(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}
