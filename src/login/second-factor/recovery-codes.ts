import { createHmac, randomBytes } from 'node:crypto'

/** Crockford's: no two characters look alike. Sixteen of 32 are 80 bits. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const length = 16
const amount = 10

/** Ten new codes for the account with this secret, in groups that people can copy from paper. */
export function newRecoveryCodes(secret: Uint8Array) {
  return Array.from({ length: amount }, () => {
    const characters = [...randomBytes(length)].map((byte) => alphabet.charAt(byte % 32))
    const plain = characters.join('')
    return { code: plain.replace(/.{4}(?=.)/g, '$&-'), digest: digestOf(secret, plain) }
  })
}

/** The digest of what a user typed, with or without groups; `undefined` for what cannot be a code. */
export function recoveryDigest(secret: Uint8Array, typed: string): string | undefined {
  const plain = typed
    .toLowerCase()
    .replaceAll(/[\s-]/g, '')
    .replaceAll('o', '0')
    .replaceAll(/[il]/g, '1')
  return /^[0-9a-hjkmnp-tv-z]{16}$/.test(plain) ? digestOf(secret, plain) : undefined
}

/**
 * The key is the account's own secret, which the database has only encrypted: so digests reveal
 * nothing, fit no other account, and stay valid when keys are rotated.
 */
function digestOf(secret: Uint8Array, plain: string): string {
  return createHmac('sha256', secret).update(`postern:recovery-code:${plain}`).digest('base64url')
}
