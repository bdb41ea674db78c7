/** Prose for man. Its hyphens stay what they are: most of them are in options and names. */
export function text(prose: string): string {
  return protectedLine(escaped(prose).replaceAll('-', '\\-'))
}

/** Text to type or paste: every character stays what it is. */
export function literal(code: string): string {
  return protectedLine(escaped(code).replace(/[-'`^~"]/g, (character) => exact[character] ?? ''))
}

/** The same, bold. */
export function bold(code: string): string {
  return `\\fB${literal(code)}\\fR`
}

/** What man would print as typographic quotes and hyphens. */
const exact: Readonly<Record<string, string>> = {
  '-': '\\-',
  "'": '\\(aq',
  '"': '\\(dq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
}

/** Backslashes, and characters outside ASCII, which not every locale has. */
function escaped(line: string): string {
  return line.replaceAll('\\', '\\e').replace(/[^\0-\x7f]/gu, (character) => {
    return `\\[u${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`
  })
}

/** A line that cannot be taken for a macro. */
function protectedLine(line: string): string {
  return /^[.']/.test(line) ? `\\&${line}` : line
}
