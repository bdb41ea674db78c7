/** Numbered texts in flat memory, which moves between threads without copying each string. */
export interface TextTable {
  /** The UTF-16 code units of all texts, one after the other. */
  readonly units: Uint16Array
  /** Where each text begins, and where the last one ends. */
  readonly starts: Int32Array
  /** A hash table of the numbers plus one; as many slots as a power of two. */
  readonly slots: Int32Array
}

/** Puts distinct texts into a table; the number of a text is its place in the list. */
export function tableOf(texts: readonly string[]): TextTable {
  const starts = new Int32Array(texts.length + 1)
  for (let number = 0; number < texts.length; number++) {
    starts[number + 1] = (starts[number] as number) + (texts[number] as string).length
  }
  const units = new Uint16Array(starts[texts.length] as number)
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(texts.length * 2 + 2)))
  for (let number = 0; number < texts.length; number++) {
    const text = texts[number] as string
    const start = starts[number] as number
    for (let at = 0; at < text.length; at++) units[start + at] = text.charCodeAt(at)
    let slot = hashOf(text) & (slots.length - 1)
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1)
    slots[slot] = number + 1
  }
  return { units, starts, slots }
}

/** The number of a text, or -1. Allocates nothing. */
export function numberOf({ units, starts, slots }: TextTable, text: string): number {
  const mask = slots.length - 1
  for (let slot = hashOf(text) & mask; ; slot = (slot + 1) & mask) {
    const number = (slots[slot] as number) - 1
    if (number === -1) return -1
    const start = starts[number] as number
    if ((starts[number + 1] as number) - start !== text.length) continue
    let same = 0
    while (same < text.length && units[start + same] === text.charCodeAt(same)) same++
    if (same === text.length) return number
  }
}

/** The text with this number. */
export function textAt({ units, starts }: TextTable, number: number): string {
  const { buffer, byteLength, byteOffset } = units.subarray(starts[number], starts[number + 1])
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf16le')
}

/** FNV-1a, mixed once more: the slots are chosen by its lower bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5 | 0
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return hash ^ (hash >>> 15)
}
