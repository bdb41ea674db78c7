/** Texts numbered in the order in which they first come. */
export type Numbers = ReturnType<typeof createNumbers>

/** Without texts yet. */
export function createNumbers() {
  const known = new Map<string, number>()
  const texts: string[] = []
  return {
    texts,
    of(text: string) {
      const number = known.get(text)
      if (number !== undefined) return number
      known.set(text, texts.length)
      return texts.push(text) - 1
    },
  }
}
