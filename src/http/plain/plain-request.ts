import { isFieldName } from '../../wire/header-fields.ts'
import { rememberNames } from '../../wire/remembered-names.ts'

/**
 * A request that all parsers read the same way. `headers` are name, value, name, value … in the order and
 * spelling of the client; `bodyAt` and `end` say where the body begins and ends in the bytes.
 */
export type PlainRequest = NonNullable<ReturnType<typeof readPlainRequest>>

export interface PlainLimits {
  readonly headerBytes: number
  readonly headerCount: number
}

/** Without HEAD: its response announces a body that never comes, so Node must write it. */
const requestLine =
  /^(?:GET|POST|PUT|PATCH|DELETE|OPTIONS) \/[A-Za-z0-9\-._~!$&'()*+,;=:@/?%]* HTTP\/1\.1\r\n/
const afterTarget = ' HTTP/1.1\r\n'.length
const unfitForValue = /[^\t\x20-\x7e]/
const length = /^(?:0|[1-9]\d{0,8})$/

const headEnd = Buffer.from('\r\n\r\n')

/** How a header affects parsing; `special` ones are for Node's parser. */
type Meaning = 'none' | 'length' | 'connection' | 'special'

/** These decide where the request ends, what may follow it, or what must happen first. */
const meanings: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ['content-length', 'length'],
  ['connection', 'connection'],
  ['transfer-encoding', 'special'],
  ['proxy-connection', 'special'],
  ['upgrade', 'special'],
  ['expect', 'special'],
  ['te', 'special'],
  ['trailer', 'special'],
])

/** `undefined` for an invalid name. The remembered string has its hash computed already. */
const readName = rememberNames((name) => {
  if (!isFieldName(name)) return undefined
  return { name, meaning: meanings.get(name.toLowerCase()) ?? 'none' }
})

/**
 * Reads the request that `bytes` begin with if it is complete and of the form that all parsers agree on:
 * HTTP/1.1, a plain path, lines that end with CRLF, headers of name, colon, space and printable ASCII,
 * no framing but one Content-Length, and no Connection but keep-alive. Returns `undefined` for
 * everything else, which Node's strict parser must read: never make this function lenient.
 */
export function readPlainRequest(bytes: Buffer, most: PlainLimits) {
  const lastLineEnd = bytes.indexOf(headEnd)
  if (lastLineEnd === -1 || lastLineEnd >= most.headerBytes) return undefined
  const text = bytes.toString('latin1', 0, lastLineEnd + 2)
  // Not `exec`: its result is half as large as everything else allocated here.
  if (!requestLine.test(text)) return undefined
  const targetAt = text.indexOf(' ') + 1
  const targetEnd = text.indexOf(' ', targetAt)

  const headers: string[] = []
  let bodyBytes: string | undefined
  let from = targetEnd + afterTarget
  while (from < text.length) {
    const lineEnd = text.indexOf('\r\n', from)
    const colon = text.indexOf(':', from)
    if (colon === -1 || colon > lineEnd) return undefined
    const field = readName(text.slice(from, colon))
    const value = plainValue(text, colon + 1, lineEnd)
    if (field === undefined || value === undefined) return undefined
    switch (field.meaning) {
      case 'special':
        return undefined
      case 'length':
        if (bodyBytes !== undefined || !length.test(value)) return undefined
        bodyBytes = value
        break
      case 'connection':
        if (value !== 'keep-alive' && value.toLowerCase() !== 'keep-alive') return undefined
    }
    headers.push(field.name, value)
    from = lineEnd + 2
  }

  if (headers.length > 2 * most.headerCount) return undefined
  const bodyAt = lastLineEnd + headEnd.length
  const end = bodyAt + Number(bodyBytes ?? 0)
  if (end > bytes.length) return undefined
  const method = text.slice(0, targetAt - 1)
  return { method, target: text.slice(targetAt, targetEnd), headers, bodyAt, end }
}

const space = 0x20
const tab = 0x09

/** One space, then printable characters without blanks at either end. */
function plainValue(text: string, from: number, to: number): string | undefined {
  if (to - from < 2 || text.charCodeAt(from) !== space) return undefined
  const first = text.charCodeAt(from + 1)
  const last = text.charCodeAt(to - 1)
  if (first === space || first === tab || last === space || last === tab) return undefined
  const value = text.slice(from + 1, to)
  return unfitForValue.test(value) ? undefined : value
}
