/**
 * A text without these lines, counted from 1. A comment for Postern directly above a removed line, such
 * as the time at which it expires, goes with it: it would apply to the next line. Other comments stay.
 */
export function withoutLines(text: string, removed: ReadonlySet<number>): string {
  if (removed.size === 0) return text
  const lines = text.split('\n')
  const gone = new Set([...removed].map((line) => line - 1))
  for (const line of removed) {
    for (let above = line - 2; above >= 0 && isComment(lines[above]); above--) {
      if (isDirective(lines[above])) gone.add(above)
    }
  }
  return lines.filter((_, index) => !gone.has(index)).join('\n')
}

function isComment(line = ''): boolean {
  return line.trimStart().startsWith('#')
}

function isDirective(line = ''): boolean {
  return /^\s*#\s*postern:\s*(?:until|ignore)\b/.test(line)
}
