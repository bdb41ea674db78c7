import type { Problem } from '../../kernel/errors.ts'

const mark = '\uFEFF'

/**
 * Reports every byte order mark that is not the first character of the file. Editors hide it, and
 * parsers differ: some drop it as white space, for others it is part of the name that it precedes.
 */
export function reportByteOrderMarks(
  file: { readonly name: string; readonly text: string },
  report: (problem: Problem) => void,
): void {
  const { name, text } = file
  let line = 1
  let lineStart = 0
  let left = mostReported
  for (let at = text.indexOf(mark, 1); at !== -1 && left > 0; at = text.indexOf(mark, at + 1)) {
    left--
    for (let end = text.indexOf('\n', lineStart); end !== -1 && end < at; ) {
      line++
      lineStart = end + 1
      end = text.indexOf('\n', lineStart)
    }
    report({ file: name, line, column: at - lineStart + 1, message })
  }
}

/** A file joined from many others has one at the start of each. */
const mostReported = 20

const message =
  'byte order mark (U+FEFF) inside the file: delete it (concatenated files often contain one where the next file starts)'
