import { hash } from 'node:crypto'

/** Longer than every path that a gateway records by default. */
const maxLength = 2048

/**
 * A copy to keep. A part of a text keeps the whole text in memory, here tens of kilobytes, and a log may
 * hold texts of any length.
 */
export function kept(text: string): string
export function kept(text: string | undefined): string | undefined
export function kept(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  return Buffer.from(text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`).toString()
}

const maxKey = 128

/** The text itself, or a hash of a long one. */
export function boundedKey(text: string): string {
  return text.length <= maxKey ? text : hash('sha256', text, 'base64url')
}
