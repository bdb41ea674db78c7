import { randomInt } from 'node:crypto'

/** Without letters and digits that are easily confused when copied by hand. */
const alphabet = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const length = 16

/** A password of about 92 bits from the system's randomness, to be shown once. */
export function randomPassword(): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}
