import { type CellKind, cellKinds, type MatrixOperation } from '../../answers/matrix.ts'

/** `admin` may make every call that the gateway does not refuse, and needs no rule. */
type Cell = CellKind | 'admin'

/** The word for each cell, for people and programs that read columns, and its letter. */
const cells = {
  none: ['no', '-'],
  own: ['allowed', 'a'],
  inherited: ['inherited', 'i'],
  superuser: ['superuser', 's'],
  everyone: ['everyone', 'e'],
  'part-own': ['partly', 'p'],
  'part-inherited': ['partly inherited', 'q'],
  'part-everyone': ['partly everyone', 'r'],
  denied: ['denied', 'd'],
  admin: ['admin', 'm'],
} as const satisfies Readonly<Record<Cell, readonly [word: string, letter: string]>>

/** What a table may say of a role and an operation. */
export type CellWord = (typeof cells)[Cell][0]

export const cellWords = Object.fromEntries(
  Object.entries(cells).map(([kind, [word]]) => [kind, word]),
) as Readonly<Record<Cell, CellWord>>

export const letterMeanings: Readonly<Record<string, CellWord>> = Object.fromEntries(
  Object.values(cells).map(([word, letter]) => [letter, word]),
)

/** The cells of an operation: that of `admin`, then one for each role. */
export function cellsOf({ cells: numbers, access }: MatrixOperation): readonly Cell[] {
  return [firstCell(access), ...Array.from(numbers, (number) => cellKinds[number] ?? 'none')]
}

function firstCell(access: MatrixOperation['access']): Cell {
  return access.includes('permitted') ? 'admin' : 'everyone'
}

/** The letter of each kind, as a byte, by its place in `cellKinds`. */
const bytes = Uint8Array.from(cellKinds, (kind) => cells[kind][1].charCodeAt(0))

/** The cells of an operation as letters. In bytes, because a large matrix has 400,000. */
export function lettersOf({ cells: numbers, access }: MatrixOperation): string {
  const row = Buffer.alloc(numbers.length)
  for (const [at, number] of numbers.entries()) row[at] = bytes[number] ?? 0
  return cells[firstCell(access)][1] + row.toString('latin1')
}
