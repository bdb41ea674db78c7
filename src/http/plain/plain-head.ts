import { STATUS_CODES } from 'node:http'
import { flatText } from '../../wire/flat-text.ts'
import { fieldStart, isFieldValue } from '../../wire/header-fields.ts'
import { rememberNames } from '../../wire/remembered-names.ts'
import { dateText } from '../connections/date-text.ts'

/** The head of a response as text, and the body length that it announces. */
export interface PlainHead {
  readonly text: string
  readonly bodyBytes: string
}

/** Names that frame a response or close a connection: these are left to Node. */
const special = new Set(['transfer-encoding', 'connection', 'keep-alive', 'trailer', 'upgrade'])

type Meaning = 'none' | 'length' | 'date' | 'special'

function meaningOf(lower: string): Meaning {
  if (special.has(lower)) return 'special'
  if (lower === 'content-length') return 'length'
  return lower === 'date' ? 'date' : 'none'
}

/** The text before the value, and the meaning; `undefined` for an invalid name. */
const readName = rememberNames((name) => {
  const start = fieldStart(name)
  return start === undefined ? undefined : { start, meaning: meaningOf(name.toLowerCase()) }
})

/**
 * The head of a response of known length, byte for byte as Node would write it. Without `keepAlive`, the
 * response closes the connection. Returns `undefined` for every other response, and for headers that
 * Node would refuse to write.
 */
export function plainHead(
  status: number,
  headers: readonly string[],
  keepAlive: string | undefined,
): PlainHead | undefined {
  // RFC 9110 15.3.5, 15.4.5: no body, whatever is announced.
  if (status < 200 || status === 204 || status === 304) return undefined
  let text = statusLines[status] ?? statusLine(status)
  let bodyBytes: string | undefined
  let hasDate = false
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string
    const value = headers[at + 1] as string
    const field = readName(name)
    if (field === undefined || !isFieldValue(value)) return undefined
    switch (field.meaning) {
      case 'length':
        if (bodyBytes !== undefined) return undefined
        bodyBytes = value
        break
      case 'date':
        hasDate = true
        break
      case 'special':
        return undefined
    }
    text = text + field.start + value
  }
  if (bodyBytes === undefined) return undefined
  if (!hasDate) text = `${text}\r\nDate: ${dateText()}`
  return { text: text + lastLines(keepAlive), bodyBytes }
}

let keptFor: string | undefined
let keptLines = ''

/** All connections of a server get the same lines: comparing is cheaper than building them again. */
function lastLines(keepAlive: string | undefined): string {
  if (keepAlive === undefined) return '\r\nConnection: close\r\n\r\n'
  if (keepAlive !== keptFor) {
    keptLines = flatText(`\r\nConnection: keep-alive\r\nKeep-Alive: ${keepAlive}\r\n\r\n`)
    keptFor = keepAlive
  }
  return keptLines
}

function statusLine(status: number): string {
  return flatText(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}`)
}

const statusLines = Array.from({ length: 600 }, (_, status) => statusLine(status))
