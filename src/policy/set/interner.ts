/** Returns the same string for equal texts, so that thousands of lines share one copy of a role. */
interface Interner {
  /** The shared copy; `undefined` for a text that is not valid. */
  readonly intern: (text: string) => string | undefined
}

/**
 * Validates each distinct text once. A copy does not refer to the file it was read from, which
 * would otherwise stay in memory as a whole.
 */
export function createInterner(isValid: (text: string) => boolean): Interner {
  const copies = new Map<string, string>()
  return {
    intern(text) {
      const known = copies.get(text)
      if (known !== undefined) return known
      if (!isValid(text)) return undefined
      const copy = Buffer.from(text).toString()
      copies.set(copy, copy)
      return copy
    },
  }
}
