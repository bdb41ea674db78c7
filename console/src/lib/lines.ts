/** Where a line of a text is after an edit; `undefined` if the edit changed it. */
export type MoveLine = (line: number) => number | undefined

/**
 * Finds the lines before and after the edited part again, whatever was inserted or removed between them.
 * Looks at the texts once: a large policy can have a message at every line.
 */
export function lineMover(before: readonly string[], after: readonly string[]): MoveLine {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++
  return (line) => {
    if (line < 1 || line > before.length) return undefined
    if (line <= start) return line
    return line > before.length - end ? line + after.length - before.length : undefined
  }
}

/** How many columns a text takes in a font of fixed width. */
export function columnsOf(text: string, tabSize: number): number {
  let columns = 0
  for (const character of text) {
    if (character === '\t') columns += tabSize - (columns % tabSize)
    else columns += wide.test(character) ? 2 : 1
  }
  return columns
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u

/** The offset at which a line begins, and at which it ends. */
export function rangeOf(text: string, line: number): readonly [start: number, end: number] {
  let start = 0
  for (let nth = 1; nth < line; nth++) {
    const next = text.indexOf('\n', start)
    if (next === -1) return [text.length, text.length]
    start = next + 1
  }
  const end = text.indexOf('\n', start)
  return [start, end === -1 ? text.length : end]
}

/** The line and the column of an offset, from 1. */
export function placeAt(text: string, offset: number): { line: number; column: number } {
  let line = 1
  let start = 0
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++
    start = at + 1
  }
  return { line, column: offset - start + 1 }
}
