/** Hands out one copy of each sound text, however often it is repeated. */
interface Texts {
  /** The copy, or `undefined` for a text that is not sound. */
  readonly take: (text: string) => string | undefined
}

/**
 * Remembers the texts it has seen, so that a thousand lines with one role check it once and share
 * it. A copy is cut loose from the file it was read in, which else stays in memory as a whole.
 */
export function createTexts(isSound: (text: string) => boolean): Texts {
  const copies = new Map<string, string>()
  return {
    take(text) {
      const known = copies.get(text)
      if (known !== undefined) return known
      if (!isSound(text)) return undefined
      const copy = Buffer.from(text).toString()
      copies.set(copy, copy)
      return copy
    },
  }
}
