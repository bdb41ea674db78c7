import { readFields } from './header-fields.ts'
import { Malformed } from './wire-error.ts'

/** How the body ends: no body, chunks, the close of the connection, or a number of bytes. */
export type Framing = 'none' | 'chunked' | 'close' | number

export interface ResponseHead {
  readonly status: number
  /** Name, value, name, value … in the order and spelling of the server. */
  readonly headers: readonly string[]
  readonly framing: Framing
  /** The Connection header, if it lists more than `keep-alive` or `close`. */
  readonly listed: string | undefined
  /** Whether another request may follow on the connection. */
  readonly persistent: boolean
  /** The idle timeout that the server announces in Keep-Alive, if any. */
  readonly keepAliveSeconds: number | undefined
}

const statusLine = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/
const minorAt = 'HTTP/1.'.length
const statusAt = 'HTTP/1.1 '.length

/**
 * Reads the head of a response to a request with `method`: everything before the empty line. Rejects
 * ambiguous framing (RFC 9112 6.3) instead of repairing it: on a reused connection, the difference
 * would become the response of the next caller.
 */
export function readHead(text: string, method: string): ResponseHead {
  const lineEnd = text.indexOf('\r\n')
  if (!statusLine.test(lineEnd === -1 ? text : text.slice(0, lineEnd))) {
    throw new Malformed('invalid HTTP/1.1 status line')
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
  // RFC 9110 8.6: these have no body. A server that announces one may send it nevertheless.
  const isDoubtful =
    (status < 200 || status === 204) && (coding !== undefined || Number(length ?? 0) > 0)
  const persistent = framing !== 'close' && !isDoubtful && isPersistent(connection, isOld)
  // The final response could not follow. HTTP/1.0 has no interim responses at all.
  if (status < 200 && !persistent) throw new Malformed('interim response closes the connection')
  return {
    status,
    headers,
    framing,
    listed: isPlain(connection) ? undefined : connection,
    persistent,
    keepAliveSeconds: keepAlive === undefined ? undefined : timeoutIn(keepAlive),
  }
}

/** Whether a 101 switches to the requested protocol, in Connection and Upgrade (RFC 9110 7.8). */
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
    // The client would get any other coding undeclared.
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
