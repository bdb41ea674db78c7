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

/** Escapes control characters: text from others must not send control codes to the terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`
  })
}

/** One JSON document, as `--output json` prints it. */
export function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** `1 rule`, `2 rules`, `12,000 rules`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? noun : plural}`
}
