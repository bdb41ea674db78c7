import { EventEmitter } from 'node:events'
import { type IncomingMessage, ServerResponse, validateHeaderValue } from 'node:http'
import type { Socket } from 'node:net'
import type { Reply } from '../../gateway/reply.ts'
import { setReplyInProgress } from '../connections/reply-in-progress.ts'
import { type PlainHead, plainHead } from './plain-head.ts'

/** The connection that is to have the answer. */
export interface ReplyingConnection {
  readonly socket: Socket
  /** What a client is told of how long it is kept: the value of Keep-Alive. */
  readonly keepAlive: string
  /** All of the answer has been sent. */
  answered(): void
}

const plainVersion = { httpVersionMajor: 1, httpVersionMinor: 1 } as const

/**
 * The answer to a request that we read ourselves. A short one whose length is known leaves as one
 * text. For everything else there is Node's: it is made when the first thing happens that such an
 * answer does not need.
 */
export class PlainReply extends EventEmitter implements Reply {
  statusCode = 200
  shouldKeepAlive = true
  closed = false
  destroyed = false
  readonly req: typeof plainVersion = plainVersion
  readonly #connection: ReplyingConnection
  readonly #method: string
  #marks: Map<string, readonly [string, string]> | undefined
  #head: PlainHead | undefined
  #headers: string[] | undefined
  #ended = false
  #nodes: ServerResponse | undefined

  constructor(connection: ReplyingConnection, method: string) {
    super()
    this.#connection = connection
    this.#method = method
  }

  get socket(): Socket | null {
    return this.#connection.socket
  }
  get headersSent(): boolean {
    return this.#nodes?.headersSent ?? this.#head !== undefined
  }
  get writableLength(): number {
    return this.#nodes?.writableLength ?? (this.#ended ? this.#connection.socket.writableLength : 0)
  }

  setHeader(name: string, value: string): void {
    validateHeaderValue(name, value)
    this.#marks ??= new Map()
    this.#marks.set(name.toLowerCase(), [name, value])
  }
  removeHeader(name: string): void {
    this.#marks?.delete(name.toLowerCase())
  }

  writeHead(status: number, headers: string[] = []): this {
    const all = this.#marks === undefined ? headers : withMarks(headers, this.#marks)
    const keepAlive = this.shouldKeepAlive ? this.#connection.keepAlive : undefined
    this.statusCode = status
    this.#headers = all
    this.#head = this.#nodes === undefined ? plainHead(status, all, keepAlive) : undefined
    if (this.#head === undefined) this.#writeNodesHead(this.#leaveToNode())
    return this
  }

  end(text = '', encoding: 'latin1' | 'utf8' = 'utf8'): void {
    if (this.closed) return
    const head = this.#head
    if (this.#nodes !== undefined || head === undefined || !isAnnounced(head, text, encoding)) {
      this.#leaveToNode().end(text, encoding)
      return
    }
    const { socket } = this.#connection
    this.#ended = true
    // In one piece, and told to nobody where the system has taken all of it: that is the rule.
    socket.write(head.text + text, 'latin1')
    if (socket.writableLength === 0) this.#close()
    else socket.write('', (error) => error ?? this.#tellClosed())
  }

  flushHeaders(): void {
    this.#leaveToNode().flushHeaders()
  }
  write(chunk: Buffer, written: (error?: Error | null) => void): boolean {
    return this.#leaveToNode().write(chunk, written)
  }
  addTrailers(trailers: readonly [string, string][]): void {
    this.#leaveToNode().addTrailers(trailers)
  }
  writeContinue(): void {
    this.#leaveToNode().writeContinue()
  }
  detachSocket(socket: Socket): void {
    this.#leaveToNode().detachSocket(socket)
  }
  destroy(): void {
    this.#connection.socket.destroy()
  }

  /** The connection is gone. */
  left(): void {
    if (this.closed) return
    this.destroyed = true
    this.closed = true
    this.emit('close')
  }

  #leaveToNode(): ServerResponse {
    if (this.#nodes !== undefined) return this.#nodes
    const { socket } = this.#connection
    const request = { method: this.#method, ...plainVersion }
    const nodes = new ServerResponse(request as IncomingMessage)
    this.#nodes = nodes
    // Only what Node reads itself is told this by it.
    const drained = () => {
      if (!nodes.writableEnded) this.emit('drain')
    }
    setReplyInProgress(socket, null)
    nodes.assignSocket(socket)
    socket.on('drain', drained)
    nodes.once('finish', () => {
      socket.off('drain', drained)
      nodes.detachSocket(socket)
      this.shouldKeepAlive = nodes.shouldKeepAlive
      this.#tellClosed()
    })
    if (this.#head !== undefined) this.#writeNodesHead(nodes)
    return nodes
  }

  #writeNodesHead(nodes: ServerResponse): void {
    const kept = this.shouldKeepAlive ? ['Keep-Alive', this.#connection.keepAlive] : []
    nodes.shouldKeepAlive = this.shouldKeepAlive
    nodes.writeHead(this.statusCode, [...(this.#headers ?? []), ...kept])
  }

  #close(): void {
    this.closed = true
    this.#connection.answered()
  }
  #tellClosed(): void {
    if (this.closed) return
    this.#close()
    this.emit('close')
  }
}

/** Whether the text is what the head says that follows. As Latin-1 a character is a byte. */
function isAnnounced({ bodyBytes }: PlainHead, text: string, encoding: string): boolean {
  if (bodyBytes !== String(text.length)) return false
  return encoding === 'latin1' || Buffer.byteLength(text) === text.length
}

/** What is written with the head takes the place of what was set before. */
function withMarks(
  headers: readonly string[],
  marks: ReadonlyMap<string, readonly [string, string]>,
): string[] {
  const names = new Set(headers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()))
  const left = [...marks].filter(([lower]) => !names.has(lower)).flatMap(([, mark]) => mark)
  return [...left, ...headers]
}
