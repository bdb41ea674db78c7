import { cellKinds, type MatrixOperation } from '../../../answers/matrix.ts'
import { cellWords, firstCell, type SheetCell } from './sheet.ts'

/** A letter for each kind of cell; programs read the meanings beside them. */
const letters: Readonly<Record<SheetCell, string>> = {
  none: '-',
  own: 'a',
  inherited: 'i',
  superuser: 's',
  everyone: 'e',
  'part-own': 'p',
  'part-inherited': 'q',
  'part-everyone': 'r',
  denied: 'd',
  admin: 'm',
}

export const letterMeanings = Object.fromEntries(
  Object.entries(letters).map(([kind, letter]) => [letter, cellWords[kind as SheetCell]]),
)

/** The letter of each kind, as a byte, by its place in `cellKinds`. */
const bytes = Uint8Array.from(cellKinds, (kind) => letters[kind].charCodeAt(0))

/** The cells of an operation, in the order of the roles. In bytes, because a large matrix has 400,000. */
export function lettersOf({ cells, access }: MatrixOperation): string {
  const row = Buffer.alloc(cells.length)
  for (const [at, number] of cells.entries()) row[at] = bytes[number] ?? 0
  return letters[firstCell(access)] + row.toString('latin1')
}
