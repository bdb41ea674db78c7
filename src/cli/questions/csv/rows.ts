import { printable } from '../../format.ts'

/** RFC 4180: a line for each row, the titles first. */
export function formatCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(field).join(',')}\r\n`).join('')
}

/**
 * A spreadsheet evaluates a cell that begins like a formula, and a role key may be `=cmd()`. The
 * apostrophe makes it text. The wide forms are formulas in some languages.
 */
const formula = /^\s*[=+\-@|%\uff1d\uff0b\uff0d\uff20]/

function field(text: string): string {
  const shown = printable(text)
  const safe = formula.test(shown) ? `'${shown}` : shown
  return /[",\r\n']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
