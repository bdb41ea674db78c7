import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import type { Reply } from '../../gateway/reply.ts'
import { ErrorCode } from '../../h2/error-codes.ts'
import { connectionSpecific } from '../../h2/message-fields.ts'
import type { Stream, StreamAbort } from '../../h2/stream.ts'
import { isFieldName, isFieldValue } from '../../wire/header-fields.ts'
import { rememberNames } from '../../wire/remembered-names.ts'
import { dateText } from '../connections/date-text.ts'

const version = { httpVersionMajor: 2, httpVersionMinor: 0 } as const

/** The lower-case name, or `undefined` for an invalid one. */
const lowerName = rememberNames((name) => (isFieldName(name) ? name.toLowerCase() : undefined))

/** The response on one stream of an HTTP/2 connection. */
export class StreamReply extends EventEmitter implements Reply {
  statusCode = 200
  /** Of no effect: streams end by themselves, and GOAWAY announces the end of the connection. */
  shouldKeepAlive = true
  headersSent = false
  closed = false
  destroyed = false
  readonly socket: Socket
  readonly req: typeof version = version
  readonly #stream: Stream
  readonly #isHead: boolean
  #ownHeaders: Map<string, string> | undefined
  /** Written, but not sent yet. */
  #head: string[] | undefined
  #trailers: string[] | undefined

  constructor(stream: Stream, socket: Socket, method: string) {
    super()
    this.#stream = stream
    this.socket = socket
    this.#isHead = method === 'HEAD'
  }

  get writableLength(): number {
    const { queuedBytes, queue, ending, localEnded } = this.#stream
    if (queuedBytes > 0) return queuedBytes
    // A head or an end that waits for the client to read counts too, or no timeout would end it.
    return queue.length > 0 || (ending && !localEnded) ? 1 : 0
  }

  setHeader(name: string, value: string): void {
    this.#ownHeaders ??= new Map()
    this.#ownHeaders.set(checkedName(name), checkedValue(value))
  }
  removeHeader(name: string): void {
    this.#ownHeaders?.delete(name.toLowerCase())
  }

  writeHead(status: number, headers: string[] = []): this {
    this.#head = this.#fields(status, headers)
    this.statusCode = status
    this.headersSent = true
    return this
  }

  flushHeaders(): void {
    this.#sendHead(false)
  }

  write(chunk: Buffer, written: (error?: Error | null) => void): boolean {
    if (this.#hasNoBody()) {
      written()
      return true
    }
    this.#sendHead(false)
    return this.#stream.write(chunk, written)
  }

  addTrailers(trailers: readonly [string, string][]): void {
    const fields = trailers.flatMap(([name, value]) => [checkedName(name), checkedValue(value)])
    if (fields.length > 0) this.#trailers = fields
  }

  end(text = '', encoding: 'latin1' | 'utf8' = 'utf8'): void {
    if (!this.headersSent) this.writeHead(this.statusCode)
    const isEmpty = text === '' || this.#hasNoBody()
    if (isEmpty && this.#head !== undefined && this.#trailers === undefined) {
      this.#sendHead(true)
      return
    }
    this.#sendHead(false)
    if (!isEmpty) this.#stream.write(Buffer.from(text, encoding))
    this.#stream.end(this.#trailers)
  }

  writeContinue(): void {
    if (!this.headersSent) this.#stream.sendHeaders([':status', '100'], false)
  }
  /** There is nothing to detach: HTTP/2 has no upgrades. */
  detachSocket(): void {}
  /** Breaks the response off: its client must not take it for complete. */
  destroy(): void {
    this.#stream.reset(ErrorCode.internalError, 'response broken off')
  }

  /** The stream is closed. */
  left(abort: StreamAbort | undefined): void {
    if (this.closed) return
    this.destroyed = abort !== undefined
    this.closed = true
    // A response without a body may be sent before `end` returns: only then is it complete to its writer.
    if (abort === undefined) queueMicrotask(() => this.emit('close'))
    else this.emit('close')
  }

  #hasNoBody(): boolean {
    return this.#isHead || this.statusCode === 204 || this.statusCode === 304
  }

  #sendHead(isLast: boolean): void {
    const head = this.#head
    if (head === undefined) return
    this.#head = undefined
    this.#stream.sendHeaders(head, isLast)
  }

  /** Headers of `writeHead` replace those of `setHeader`. */
  #fields(status: number, headers: readonly string[]): string[] {
    const fields = [':status', String(status)]
    const own = this.#ownHeaders
    let hasDate = false
    for (let at = 0; at < headers.length; at += 2) {
      const name = checkedName(headers[at] as string)
      if (connectionSpecific.has(name)) continue
      if (name === 'date') hasDate = true
      own?.delete(name)
      fields.push(name, checkedValue(headers[at + 1] as string))
    }
    if (own !== undefined) for (const [name, value] of own) fields.push(name, value)
    if (!hasDate && own?.has('date') !== true) fields.push('date', dateText())
    return fields
  }
}

function checkedName(name: string): string {
  const lower = lowerName(name)
  if (lower === undefined) throw new TypeError(`invalid header name: ${JSON.stringify(name)}`)
  return lower
}

function checkedValue(value: string): string {
  if (!isFieldValue(value)) throw new TypeError('invalid character in a header value')
  return value
}
