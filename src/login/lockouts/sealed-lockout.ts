import { cipherKey, decrypt, encrypt } from '../authenticated-cipher.ts'
import type { BegunLockout, LockedOut, LockoutKind } from './lockout.ts'

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
  return encrypt(cipherKey(secret), text, about(key, kind))
}

/** `undefined` for what was sealed with another secret or for another key, or is not sealed at all. */
export function openLockout(
  secret: string,
  { key, kind, sealed }: { readonly key: string; readonly kind: string; readonly sealed: string },
): OpenedLockout | undefined {
  if (!isKind(kind)) return undefined
  const opened = decrypt(cipherKey(secret), sealed, about(key, kind))
  return opened && { kind, ...JSON.parse(opened.toString()) }
}

const kinds: readonly string[] = ['account', 'pair', 'address', 'captcha'] satisfies LockoutKind[]

function isKind(kind: string): kind is LockoutKind {
  return kinds.includes(kind)
}

function about(key: string, kind: LockoutKind): string {
  return JSON.stringify([key, kind])
}
