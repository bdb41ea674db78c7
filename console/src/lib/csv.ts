/**
 * What a spreadsheet would evaluate, also after spaces. The wide forms are formulas in some languages;
 * commands treat the same cells.
 */
const formula = /^(?:[\t\r]|\s*[=+\-@|%\uff1d\uff0b\uff0d\uff20])/

/** A table as RFC 4180 CSV. An apostrophe precedes what would be a formula. */
export function toCsv(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

function cell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const safe = formula.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
