import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import type { BegunLockout, LockedOut, LockoutKind } from './lockout.ts'

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const authTagLength = 16
/** Longer than any name of an account. */
const maxNameChars = 128

/** Who is locked out, after how many attempts. */
export interface OpenedLockout extends LockedOut {
  readonly attempts: number
}

/**
 * Encrypts who is locked out: a name that a client typed may be a password, so stores must not hold
 * it readable. The key and the kind are authenticated too, so that records cannot be exchanged.
 */
export function sealLockout(secret: string, lockout: BegunLockout): string {
  const { key, kind, name, block, foreign, attempts } = lockout
  const text = JSON.stringify({ name: name?.slice(0, maxNameChars), block, foreign, attempts })
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, cipherKey(secret), iv, { authTagLength })
  cipher.setAAD(about(key, kind))
  const sealed = [cipher.update(text, 'utf8'), cipher.final()]
  return Buffer.concat([iv, cipher.getAuthTag(), ...sealed]).toString('base64url')
}

/** `undefined` for what was sealed with another secret or for another key, or is not sealed at all. */
export function openLockout(
  secret: string,
  { key, kind, sealed }: { readonly key: string; readonly kind: string; readonly sealed: string },
): OpenedLockout | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  if (!isKind(kind) || bytes.length < ivBytes + authTagLength) return undefined
  const iv = bytes.subarray(0, ivBytes)
  const decipher = createDecipheriv(algorithm, cipherKey(secret), iv, { authTagLength })
  decipher.setAAD(about(key, kind))
  decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + authTagLength))
  try {
    const text = decipher.update(bytes.subarray(ivBytes + authTagLength), undefined, 'utf8')
    return { kind, ...JSON.parse(text + decipher.final('utf8')) }
  } catch {
    return undefined
  }
}

const kinds: readonly string[] = ['account', 'pair', 'address', 'captcha'] satisfies LockoutKind[]

function isKind(kind: string): kind is LockoutKind {
  return kinds.includes(kind)
}

function cipherKey(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

function about(key: string, kind: LockoutKind): Buffer {
  return Buffer.from(JSON.stringify([key, kind]))
}
