import { flatText } from './flat-text.ts'
import { rememberNames } from './remembered-names.ts'
import { Malformed } from './wire-error.ts'

/** The lower-case form of a header name. Throws Malformed for an invalid one (RFC 9110 5.1). */
const fieldName: (name: string) => string = rememberNames((name) => {
  if (!isFieldName(name)) throw new Malformed('invalid header name')
  return name.toLowerCase()
})

export function isFieldName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)
}

/** The bytes before the value of a header, beginning with CRLF; `undefined` for an invalid name. */
export const fieldStart: (name: string) => string | undefined = rememberNames((name) =>
  isFieldName(name) ? flatText(`\r\n${name}: `) : undefined,
)

/**
 * Whether every parser reads it as one value (RFC 9110 5.5), also when it is written as Latin-1: U+010A
 * would become a line feed.
 */
export function isFieldValue(value: string): boolean {
  return !/[^\t\x20-\x7e\x80-\xff]/.test(value)
}

/**
 * Reads the header lines of `text` from `at` to its end, each but the last ended by CRLF. Calls `take`
 * with every field, and with its name in lower case. Throws Malformed for what parsers read differently:
 * folded lines, bare CR or LF, control characters and a space before the colon.
 */
export function readFields(
  text: string,
  at: number,
  take: (name: string, value: string, lower: string) => void,
): void {
  let from = at
  while (from < text.length) {
    const lineEnd = text.indexOf('\r\n', from)
    const end = lineEnd === -1 ? text.length : lineEnd
    const colon = text.indexOf(':', from)
    if (colon === -1 || colon >= end) throw new Malformed('header line without a colon')
    const name = text.slice(from, colon)
    const lower = fieldName(name)
    const value = trimmed(text, colon + 1, end)
    if (!isFieldValue(value)) throw new Malformed('invalid character in a header value')
    take(name, value, lower)
    from = end + 2
  }
}

const space = 0x20
const tab = 0x09

/** Removes only the white space of RFC 9110 5.5; `trim` would remove more. */
function trimmed(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === space || code === tab
}
