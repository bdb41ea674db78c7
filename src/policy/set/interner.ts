/**
 * Returns the same string for equal texts, so that thousands of lines share one copy of a role.
 * Validates each distinct text once. A copy does not refer to the file it was read from, which
 * would otherwise stay in memory as a whole.
 */
export function createInterner(isValid: (text: string) => boolean) {
  const copies = new Map<string, string>()
  return {
    /** The shared copy; `undefined` for a text that is not valid. */
    intern(text: string) {
      const known = copies.get(text)
      if (known !== undefined) return known
      if (!isValid(text)) return undefined
      const copy = Buffer.from(text).toString()
      copies.set(copy, copy)
      return copy
    },
  }
}
