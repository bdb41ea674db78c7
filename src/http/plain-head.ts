import { STATUS_CODES } from 'node:http'
import { isFieldName, isFieldValue } from '../wire/header-fields.ts'
import { rememberNames } from '../wire/remembered-names.ts'

/** The head of an answer as text, and the length of the body that it announces. */
export interface PlainHead {
  readonly text: string
  readonly bodyBytes: string
}

/** Names that frame an answer or end a connection: what they mean is left to Node. */
const special = new Set(['transfer-encoding', 'connection', 'keep-alive', 'trailer', 'upgrade'])

type Meaning = 'none' | 'length' | 'date' | 'special'

const meaningOf = rememberNames((name): Meaning => {
  const lower = name.toLowerCase()
  if (special.has(lower) || !isFieldName(name)) return 'special'
  if (lower === 'content-length') return 'length'
  return lower === 'date' ? 'date' : 'none'
})

/**
 * The head of an answer whose length is known, byte for byte as Node would write it; `keepAlive` is
 * absent where the connection ends with it. Gives `undefined` for every other answer, and for what
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
    if (!isFieldValue(value)) return undefined
    switch (meaningOf(name)) {
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
    text += `${name}: ${value}\r\n`
  }
  if (bodyBytes === undefined) return undefined
  if (!hasDate) text += `Date: ${dateNow()}\r\n`
  text +=
    keepAlive === undefined
      ? 'Connection: close\r\n\r\n'
      : `Connection: keep-alive\r\nKeep-Alive: ${keepAlive}\r\n\r\n`
  return { text, bodyBytes }
}

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`
}

const statusLines = Array.from({ length: 600 }, (_, status) => statusLine(status))

let date = ''
let dateSecond = 0

function dateNow(): string {
  const now = Date.now()
  const second = Math.floor(now / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    date = new Date(now).toUTCString()
  }
  return date
}
