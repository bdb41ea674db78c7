import { printable } from '../kernel/printable.ts'

/** Aligns the columns of the rows, without spaces at the ends of lines. */
export function formatTable(rows: readonly (readonly string[])[], indent = ''): string {
  const shown = rows.map((row) => row.map(printable))
  const widths: number[] = []
  for (const row of shown) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  }
  return shown
    .map((row) => {
      const cells = row.map((cell, at) => cell.padEnd(widths[at] ?? 0))
      return `${indent}${cells.join('  ').trimEnd()}\n`
    })
    .join('')
}

/** One JSON document, as `--output json` prints it. */
export function json(value: unknown): string {
  return `${jsonText(value, 2)}\n`
}

/** A document as JSON on one line. */
export function jsonLine(value: unknown): string {
  return `${jsonText(value)}\n`
}

/** Escapes what JSON may contain as it is: a terminal could obey it, or show text in another order. */
function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent) ?? 'null'
  return text.replace(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => {
      return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`
    }).join(''),
  )
}

/**
 * A document as JSON in pieces, one for each element of its long lists: as one string, a diff with
 * thousands of heirs for each of thousands of rules would be longer than strings can be.
 */
export function* jsonPieces(value: unknown): Generator<string> {
  yield* piecesOf(value, '', 3)
  yield '\n'
}

function* piecesOf(value: unknown, indent: string, depth: number): Generator<string> {
  const isList = Array.isArray(value)
  const members: readonly (readonly [string, unknown])[] = isList
    ? value.map((each) => ['', each ?? null] as const)
    : typeof value === 'object' && value !== null
      ? Object.entries(value).filter(([, each]) => each !== undefined)
      : []
  if (depth === 0 || members.length === 0) {
    yield jsonText(value, 2).replaceAll('\n', `\n${indent}`)
    return
  }
  yield isList ? '[' : '{'
  for (const [at, [name, each]] of members.entries()) {
    yield `${at === 0 ? '' : ','}\n${indent}  ${isList ? '' : `${jsonText(name)}: `}`
    yield* piecesOf(each, `${indent}  `, depth - 1)
  }
  yield `\n${indent}${isList ? ']' : '}'}`
}

export { count } from '../kernel/count.ts'
export { printable }
