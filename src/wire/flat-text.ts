/**
 * Copies a Latin-1 string into memory of its own. V8 keeps a concatenated string as a tree, which it
 * walks for each write, and a slice keeps all of its parent in memory.
 */
export function flatText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
