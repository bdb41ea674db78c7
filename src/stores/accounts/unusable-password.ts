import { randomBytes } from 'node:crypto'

/** Not a hash, so no password matches. Random, should another product hash it. */
export function unusablePassword(): string {
  return `!${randomBytes(24).toString('base64url')}`
}

/** The start of what an account without a password has in place of a hash. */
export const unusableMark = '!'
