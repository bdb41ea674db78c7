/** Texts numbered in the order in which they first come. */
export interface Numbers {
  readonly texts: readonly string[]
  readonly of: (text: string) => number
}

/** Without texts yet. */
export function createNumbers(): Numbers {
  const known = new Map<string, number>()
  const texts: string[] = []
  return {
    texts,
    of(text) {
      const number = known.get(text)
      if (number !== undefined) return number
      known.set(text, texts.length)
      return texts.push(text) - 1
    },
  }
}
