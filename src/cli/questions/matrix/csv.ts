import { printable } from '../../format.ts'
import { cellsOf, cellWords, type Sheet } from './sheet.ts'

/** RFC 4180: a line for each operation, and a column for each role. */
export function formatCsv({ roles, operations }: Sheet): string {
  const titles = ['method', 'path', 'access', 'served by', 'exact', ...roles]
  const rows = operations.map((operation) => [
    operation.method,
    operation.path,
    operation.access.join(' '),
    operation.servedBy.join(' '),
    operation.isExact ? 'yes' : 'no',
    ...cellsOf(operation).map((kind) => cellWords[kind]),
  ])
  return [titles, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('')
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
