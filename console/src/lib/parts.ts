/** Lines of a part. A browser lays out 10,000 lines of a text field in a quarter of a second. */
const partLines = 1000

/**
 * A long text in parts of 1,000 lines; the last one has up to 1,999. Joined by line feeds they are the text.
 * A text with fewer than 2,000 lines is one part.
 */
export function splitParts(text: string): readonly string[] {
  const lines = text.split('\n')
  const count = Math.max(1, Math.floor(lines.length / partLines))
  return Array.from({ length: count }, (_, at) => {
    const end = at === count - 1 ? lines.length : (at + 1) * partLines
    return lines.slice(at * partLines, end).join('\n')
  })
}

/** The first and the last line of a part, from 1. */
export interface PartRange {
  readonly first: number
  readonly last: number
}

export function rangesOf(parts: readonly string[]): readonly PartRange[] {
  let last = 0
  return parts.map((part) => {
    const first = last + 1
    last += countLines(part)
    return { first, last }
  })
}

function countLines(text: string): number {
  let count = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}
