const MIN_BYTES = 32

// Published defaults and samples: anyone can sign with them.
const PUBLISHED = [
  'go-admin',
  'secret',
  'changeme',
  'password',
  'postern',
  'your-256-bit-secret',
  'your-384-bit-secret',
  'your-512-bit-secret',
  'a-string-secret-at-least-256-bits-long',
  'a-valid-string-secret-that-is-at-least-384-bits-long',
  'a-valid-string-secret-that-is-at-least-512-bits-long-which-is-very-long',
  'abcdefghijklmnopqrstuvwxyz',
  'abcdefghijklmnopqrstuvwxyz0123456789',
  '0123456789abcdefghijklmnopqrstuvwxyz',
]

const PLACEHOLDER = /change-?me|change-?this|replace-?me|replace-?this|placeholder|your-?secret/

/**
 * Why a secret is too weak to sign tokens in production, as the rest of a sentence; `undefined` when it
 * is strong enough. Never quotes the secret.
 */
export function secretWeakness(secret: string): string | undefined {
  const plain = secret
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, '-')
  const repeated = plain.slice(0, period(plain))

  if (PUBLISHED.includes(plain) || PUBLISHED.includes(repeated.replace(/-$/, ''))) {
    return 'is a published default that anyone can sign with'
  }
  if (PLACEHOLDER.test(plain)) return 'is a placeholder'
  if (Buffer.byteLength(secret) < MIN_BYTES) return `is shorter than ${MIN_BYTES} bytes`
  if (period(secret) <= secret.length / 2) return 'repeats a short sequence'
  if (new Set(secret).size < 5) return 'has fewer than 5 distinct characters'
  return undefined
}

/** The length of the shortest prefix that, repeated, gives the text. */
function period(text: string): number {
  for (let length = 1; length < text.length; length++) {
    if (text.startsWith(text.slice(length))) return length
  }
  return text.length
}
