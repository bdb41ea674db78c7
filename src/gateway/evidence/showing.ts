import { createHmac } from 'node:crypto'

/** How a value appears in what is recorded: as it is, as a keyed hash, or not at all. */
export type Showing = 'plain' | 'hash' | 'omit'

/** Keyed: user IDs are small numbers, so a plain hash could be reversed by trying them all. */
export function createShowing(
  showing: Showing,
  kind: 'user' | 'path',
  digestKey: () => string | undefined,
): (text: string) => string | undefined {
  if (showing === 'plain') return (text) => text
  if (showing === 'omit') return () => undefined
  return (text) => {
    const key = digestKey()
    if (key === undefined) return undefined
    return createHmac('sha256', key).update(`${kind}:${text}`).digest('base64url').slice(0, 22)
  }
}
