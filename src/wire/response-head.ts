import { readFields } from './header-fields.ts'
import { Malformed } from './wire-error.ts'

/** How the end of a body is found: there is none, so many bytes, chunks, or the end of the connection. */
export type Framing = 'none' | 'chunked' | 'close' | number

/** The status line and the headers of an answer. */
export interface ResponseHead {
  readonly status: number
  /** Name, value, name, value … in the order and spelling of the server. */
  readonly headers: readonly string[]
  readonly framing: Framing
  /** The names that are for this connection only, if any were given besides the usual two. */
  readonly listed: string | undefined
  /** Whether another request may follow on the connection. */
  readonly persistent: boolean
  /** For how many seconds the server keeps the connection for another one, if it says so. */
  readonly keptSeconds: number | undefined
}

const statusLine = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/
const minorAt = 'HTTP/1.'.length
const statusAt = 'HTTP/1.1 '.length

/**
 * Reads the head of an answer to a request with `method`: everything before the empty line. What
 * could be framed in two ways is refused (RFC 9112 6.3), not repaired: on a connection that is used
 * again, the difference would be the next caller's answer.
 */
export function readHead(text: string, method: string): ResponseHead {
  const lineEnd = text.indexOf('\r\n')
  if (!statusLine.test(lineEnd === -1 ? text : text.slice(0, lineEnd))) {
    throw new Malformed('no status line of HTTP/1.1')
  }
  const isOld = text[minorAt] === '0'
  const status = Number(text.slice(statusAt, statusAt + 3))

  const headers: string[] = []
  let length: string | undefined
  let coding: string | undefined
  let connection: string | undefined
  let keepAlive: string | undefined
  readFields(text, lineEnd === -1 ? text.length : lineEnd + 2, (name, value, lower) => {
    headers.push(name, value)
    switch (lower) {
      case 'content-length':
        if (length !== undefined) throw new Malformed('more than one Content-Length')
        length = value
        return
      case 'transfer-encoding':
        if (coding !== undefined) throw new Malformed('more than one Transfer-Encoding')
        coding = value
        return
      case 'connection':
        connection = connection === undefined ? value : `${connection},${value}`
        return
      case 'keep-alive':
        keepAlive = value
        return
    }
  })

  const framing = framingOf({ status, method, isOld, length, coding })
  // RFC 9110 8.6: these have no body. From a server that announces one, it may well come.
  const isDoubtful =
    (status < 200 || status === 204) && (coding !== undefined || Number(length ?? 0) > 0)
  const persistent = framing !== 'close' && !isDoubtful && isPersistent(connection, isOld)
  // It has no body, and what it is about has not come yet: HTTP/1.0 knows no such thing.
  if (status < 200 && !persistent) throw new Malformed('interim response closes the connection')
  return {
    status,
    headers,
    framing,
    listed: isPlain(connection) ? undefined : connection,
    persistent,
    keptSeconds: keepAlive === undefined ? undefined : timeoutIn(keepAlive),
  }
}

/** Whether it is the switch to `protocol` that was asked for, and says so in full (RFC 9110 7.8). */
export function agreesTo(head: ResponseHead, protocol: string | undefined): boolean {
  if (protocol === undefined || !/(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i.test(head.listed ?? '')) {
    return false
  }
  const { headers } = head
  const offered = headers.filter(
    (_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'upgrade',
  )
  return offered.length === 1 && offered[0]?.toLowerCase() === protocol.toLowerCase()
}

function framingOf(head: {
  readonly status: number
  readonly method: string
  readonly isOld: boolean
  readonly length: string | undefined
  readonly coding: string | undefined
}): Framing {
  const { status, length, coding } = head
  if (length !== undefined && !/^\d{1,15}$/.test(length))
    throw new Malformed('invalid Content-Length')
  if (coding !== undefined) {
    if (length !== undefined) throw new Malformed('both Content-Length and Transfer-Encoding')
    // Another coding under it would reach the client undeclared.
    if (head.isOld || coding.toLowerCase() !== 'chunked') {
      throw new Malformed('unsupported Transfer-Encoding')
    }
  }
  if (head.method === 'HEAD' || status < 200 || status === 204 || status === 304) return 'none'
  if (coding !== undefined) return 'chunked'
  if (length === undefined) return 'close'
  return length === '0' ? 'none' : Number(length)
}

function isPlain(connection: string | undefined): boolean {
  if (connection === undefined || connection === 'keep-alive') return true
  return /^(?:keep-alive|close)$/i.test(connection)
}

function isPersistent(connection: string | undefined, isOld: boolean): boolean {
  if (connection === undefined) return !isOld
  if (connection === 'keep-alive') return true
  if (/(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(connection)) return false
  return !isOld || /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i.test(connection)
}

function timeoutIn(keepAlive: string): number | undefined {
  const seconds = /(?:^|[,; \t])timeout=(\d{1,6})(?:$|[,; \t])/i.exec(keepAlive)?.[1]
  return seconds === undefined ? undefined : Number(seconds)
}
