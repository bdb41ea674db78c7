/**
 * The value as an error message shows it, or `undefined` when the message must not: it is long, or
 * its `@` may follow the password of a URL.
 */
export function quote(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string' || value.length > 60 || value.includes('@')) return undefined
  return JSON.stringify(value)
}

/** A quoted value, or `the value`, for a message that needs a subject. */
export function subject(value: unknown): string {
  return quote(value) ?? 'the value'
}

/** What `config print` prints instead of a secret. */
export const MASK = '***'
