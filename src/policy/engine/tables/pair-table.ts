/** Numbers of pairs of numbers, in flat memory: a hash table of first, second and number. */
type PairTable = Int32Array

const width = 3

/** Puts distinct pairs into a table; the number of a pair is its place in the list, from one. */
export function pairTableOf(
  pairs: readonly (readonly [first: number, second: number])[],
): PairTable {
  const table = new Int32Array(2 ** Math.ceil(Math.log2(pairs.length * 2 + 2)) * width)
  for (const [at, [first, second]] of pairs.entries()) {
    const entry = entryOf(table, first, second)
    table[entry] = first
    table[entry + 1] = second
    table[entry + 2] = at + 1
  }
  return table
}

/** The number of a pair; 0 if it has none. */
export function pairNumber(table: PairTable, first: number, second: number): number {
  return table[entryOf(table, first, second) + 2] as number
}

/** The numbers of all pairs with this second part. Walks over the whole table. */
export function numbersWithSecond(table: PairTable, second: number): readonly number[] {
  const found: number[] = []
  for (let entry = 0; entry < table.length; entry += width) {
    if (table[entry + 2] !== 0 && table[entry + 1] === second)
      found.push(table[entry + 2] as number)
  }
  return found
}

/** Where the entry of a pair is, or could be. */
function entryOf(table: PairTable, first: number, second: number): number {
  const mixed = Math.imul(Math.imul(first, 0x9e3779b1) ^ second, 0x85ebca6b)
  const mask = table.length / width - 1
  for (let slot = (mixed ^ (mixed >>> 15)) & mask; ; slot = (slot + 1) & mask) {
    const entry = slot * width
    if (table[entry + 2] === 0) return entry
    if (table[entry] === first && table[entry + 1] === second) return entry
  }
}
