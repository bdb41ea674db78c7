import { randomBytes } from 'node:crypto'

/** Not a hash, so no password matches. Random, should another product hash it. */
export function unusablePassword(): string {
  return `!${randomBytes(24).toString('base64url')}`
}

/** Whether an account with this in place of a hash has a password that could match. */
export function hasPassword(stored: string | null): boolean {
  return stored !== null && stored !== '' && !stored.startsWith('!')
}
