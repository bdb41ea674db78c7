/** Hands out one copy of each sound text, however often it is repeated. */
export interface Texts {
  /** The copy, or `undefined` for a text that is not sound. */
  readonly take: (text: string) => string | undefined
}

/**
 * Remembers the texts it has seen, so that a thousand lines with one role check it once and share
 * it. A copy is cut loose from the file it was read in, which else stays in memory as a whole.
 */
export function createTexts(isSound: (text: string) => boolean): Texts {
  // Many small maps: one large one stands still for a tenth of a second when it grows.
  const shards = Array.from({ length: shardCount }, () => new Map<string, string>())
  return {
    take(text) {
      const copies = shards[shardOf(text)] as Map<string, string>
      const known = copies.get(text)
      if (known !== undefined) return known
      if (!isSound(text)) return undefined
      const copy = Buffer.from(text).toString()
      copies.set(copy, copy)
      return copy
    },
  }
}

const shardCount = 64

/** A few characters tell enough: texts of one file differ in length or in some digit. */
function shardOf(text: string): number {
  const { length } = text
  let sum = length
  for (let part = 1; part <= 8; part++) sum = sum * 7 + text.charCodeAt((length * part) / 8 - 1)
  return (sum | 0) & (shardCount - 1)
}
