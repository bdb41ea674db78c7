import { EventEmitter } from 'node:events'
import { type IncomingMessage, ServerResponse, validateHeaderValue } from 'node:http'
import type { Socket } from 'node:net'
import type { Reply } from '../../gateway/reply.ts'
import { setReplyInProgress } from '../connections/reply-in-progress.ts'
import { type PlainHead, plainHead } from './plain-head.ts'

/** The connection that gets the response. */
export interface ReplyingConnection {
  readonly socket: Socket
  /** The value of the Keep-Alive header. */
  readonly keepAlive: string
  /** The response has been sent. */
  answered(): void
}

/** How much of the responses to requests that were sent ahead may wait to leave together. */
const maxGathered = 16_384

const plainVersion = { httpVersionMajor: 1, httpVersionMinor: 1 } as const

/**
 * The response to a plain request. A short one of known length is sent as one text. For everything
 * else it creates Node's `ServerResponse`, on the first call that needs it.
 */
export class PlainReply extends EventEmitter implements Reply {
  statusCode = 200
  shouldKeepAlive = true
  closed = false
  destroyed = false
  readonly req: typeof plainVersion = plainVersion
  readonly #connection: ReplyingConnection
  readonly #method: string
  #ownHeaders: Map<string, readonly [string, string]> | undefined
  #head: PlainHead | undefined
  #headers: string[] | undefined
  #ended = false
  #node: ServerResponse | undefined

  constructor(connection: ReplyingConnection, method: string) {
    super()
    this.#connection = connection
    this.#method = method
  }

  get socket(): Socket | null {
    return this.#connection.socket
  }
  get headersSent(): boolean {
    return this.#node?.headersSent ?? this.#head !== undefined
  }
  get writableLength(): number {
    return this.#node?.writableLength ?? (this.#ended ? this.#connection.socket.writableLength : 0)
  }

  setHeader(name: string, value: string): void {
    validateHeaderValue(name, value)
    this.#ownHeaders ??= new Map()
    this.#ownHeaders.set(name.toLowerCase(), [name, value])
  }
  removeHeader(name: string): void {
    this.#ownHeaders?.delete(name.toLowerCase())
  }

  writeHead(status: number, headers: string[] = []): this {
    const all = this.#ownHeaders === undefined ? headers : mergeHeaders(headers, this.#ownHeaders)
    const keepAlive = this.shouldKeepAlive ? this.#connection.keepAlive : undefined
    this.statusCode = status
    this.#headers = all
    this.#head = this.#node === undefined ? plainHead(status, all, keepAlive) : undefined
    if (this.#head === undefined) this.#writeNodeHead(this.#useNode())
    return this
  }

  end(text = '', encoding: 'latin1' | 'utf8' = 'utf8'): void {
    if (this.closed) return
    const head = this.#head
    if (this.#node !== undefined || head === undefined || !isAnnounced(head, text, encoding)) {
      this.#useNode().end(text, encoding)
      return
    }
    const { socket } = this.#connection
    this.#ended = true
    // `Reply`: no `close` event if the system has accepted all of it already, or does so soon.
    socket.write(head.text + text, 'latin1')
    const waiting = socket.writableLength
    if (waiting === 0 || (socket.writableCorked > 0 && waiting <= maxGathered)) this.#close()
    else socket.write('', (error) => error ?? this.#reportClosed())
  }

  flushHeaders(): void {
    this.#useNode().flushHeaders()
  }
  write(chunk: Buffer, written: (error?: Error | null) => void): boolean {
    return this.#useNode().write(chunk, written)
  }
  addTrailers(trailers: readonly [string, string][]): void {
    this.#useNode().addTrailers(trailers)
  }
  writeContinue(): void {
    this.#useNode().writeContinue()
  }
  detachSocket(socket: Socket): void {
    this.#useNode().detachSocket(socket)
  }
  destroy(): void {
    this.#connection.socket.destroy()
  }

  /** The connection is closed. */
  left(): void {
    if (this.closed) return
    this.destroyed = true
    this.closed = true
    this.emit('close')
  }

  #useNode(): ServerResponse {
    if (this.#node !== undefined) return this.#node
    const { socket } = this.#connection
    const request = { method: this.#method, ...plainVersion }
    const node = new ServerResponse(request as IncomingMessage)
    this.#node = node
    // Node emits this only on connections that its own parser reads.
    const drained = () => {
      if (!node.writableEnded) this.emit('drain')
    }
    setReplyInProgress(socket, null)
    node.assignSocket(socket)
    socket.on('drain', drained)
    node.once('finish', () => {
      socket.off('drain', drained)
      node.detachSocket(socket)
      this.shouldKeepAlive = node.shouldKeepAlive
      this.#reportClosed()
    })
    if (this.#head !== undefined) this.#writeNodeHead(node)
    return node
  }

  #writeNodeHead(node: ServerResponse): void {
    const keepAlive = this.shouldKeepAlive ? ['Keep-Alive', this.#connection.keepAlive] : []
    node.shouldKeepAlive = this.shouldKeepAlive
    node.writeHead(this.statusCode, [...(this.#headers ?? []), ...keepAlive])
  }

  #close(): void {
    this.closed = true
    this.#connection.answered()
  }
  #reportClosed(): void {
    if (this.closed) return
    this.#close()
    this.emit('close')
  }
}

/** Whether the text has the announced length. In Latin-1 a character is a byte. */
function isAnnounced({ bodyBytes }: PlainHead, text: string, encoding: string): boolean {
  if (bodyBytes !== String(text.length)) return false
  return encoding === 'latin1' || Buffer.byteLength(text) === text.length
}

/** Headers of `writeHead` replace those of `setHeader`. */
function mergeHeaders(
  headers: readonly string[],
  own: ReadonlyMap<string, readonly [string, string]>,
): string[] {
  const names = new Set(headers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()))
  const left = [...own].filter(([lower]) => !names.has(lower)).flatMap(([, header]) => header)
  return [...left, ...headers]
}
