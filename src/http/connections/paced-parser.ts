import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Reply } from '../../gateway/reply.ts'
import { type ArrivalRate, afterArrivals } from './arrival-rate.ts'
import type { ClientConnection } from './client-connections.ts'
import type { ClientFaults } from './client-faults.ts'
import { HeadEnds } from './head-ends.ts'
import { KeptBytes } from './kept-bytes.ts'
import { type Lingering, lingerBytes, lingerMs } from './lingering.ts'
import { peerAddress } from './peer-address.ts'

/** How many bytes are read ahead of the responses. The rest stays in the system's buffers. */
export const maxKept = 16_384

interface PacedParts {
  readonly client: ClientConnection
  readonly faults: Pick<ClientFaults, 'closed' | 'requestRejected'>
  readonly lingering: Lingering
  /** Unset: the first bytes are never held back. */
  readonly crowd: ArrivalRate | undefined
}

/**
 * Feeds a connection to Node's parser one request at a time. Node alone would parse everything that has
 * arrived: a hundred bytes of objects for each byte of small requests, and garbage behind a good
 * request would fail the connection before that request has its response.
 *
 *   held back  in a crowd, the first bytes wait until it is clear that the client stays
 *   reading    bytes go to the parser, up to the end of the next request
 *   responding the request has no complete response yet; bytes behind it are kept, unparsed
 *   discarding the response is complete but the request is not: little more of it is read
 *   released   nothing more is parsed: the connection has switched protocols, has sent its last
 *              response, or its next bytes are malformed
 */
export class PacedParser {
  readonly #socket: Socket
  readonly #parts: PacedParts
  readonly #parse: (bytes: Buffer) => void
  readonly #kept = new KeptBytes()
  readonly #ends = new HeadEnds()
  #request: IncomingMessage | undefined
  #reply: Reply | undefined
  #bodyLeft = 0
  /** The part of the current chunk that the parser has not seen. */
  #rest: Buffer | undefined
  #paused = false
  #first = true
  #heldBack = false
  #released = false
  #failed = false
  #discarding: { left: number; readonly timer: NodeJS.Timeout } | undefined

  /** `listen` makes Node listen to the socket. */
  constructor(socket: Socket, listen: () => void, parts: PacedParts) {
    this.#socket = socket
    this.#parts = parts
    // Before Node's listener, which would respond to a client that has disconnected.
    if (parts.crowd !== undefined) socket.once('end', () => this.#leaveIfHeldBack())
    listen()
    const [parse] = socket.listeners('data')
    this.#parse = parse as (bytes: Buffer) => void
    socket.off('data', this.#parse)
    socket.on('data', this.take)
    socket.once('close', () => clearTimeout(this.#discarding?.timer))
    socket.destroySoon = () => this.#closeSoon()
  }

  /** Reads the next bytes. */
  readonly take = (bytes: Buffer): void => {
    if (this.#released) return
    if (this.#first && this.#parts.crowd?.isCrowd()) this.#holdBack()
    this.#first = false
    if (this.#discarding !== undefined && this.#isTooMuch(bytes.length)) return
    if (this.#heldBack || this.#kept.length > 0 || this.#mustWait()) this.#kept.push(bytes)
    else this.#read(bytes)
    this.#setFlow()
  }

  /** The parser has read the head of a request. */
  began(request: IncomingMessage, reply: Reply): void {
    this.#request = request
    this.#reply = reply
    this.#parts.client.began()
    reply.once('close', () => this.#answered(reply))
  }

  /** The request whose body is incomplete, if any. */
  unfinished(): IncomingMessage | undefined {
    return this.#request?.complete === false ? this.#request : undefined
  }

  /** The input is malformed or late. The response in progress is the last one. */
  fail(): void {
    this.#released = true
    this.#failed = true
  }

  /** Stops parsing, and returns the bytes behind the last request. */
  release(): Buffer {
    this.#released = true
    this.#socket.off('data', this.take)
    Reflect.deleteProperty(this.#socket, 'destroySoon')
    return Buffer.concat([this.#rest ?? Buffer.alloc(0), this.#kept.take()])
  }

  #holdBack(): void {
    this.#heldBack = true
    afterArrivals(() => {
      this.#heldBack = false
      this.#readKept()
    })
  }

  #leaveIfHeldBack(): void {
    if (!this.#heldBack) return
    this.#released = true
    this.#parts.faults.requestRejected('client-left', peerAddress(this.#socket))
    this.#socket.destroy()
  }

  #mustWait(): boolean {
    return this.#reply !== undefined && this.#request?.complete === true
  }

  #read(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length && !this.#released && !this.#socket.destroyed) {
      if (this.#mustWait()) {
        this.#kept.push(bytes.subarray(at))
        return
      }
      const inBody = this.#bodyLeft > 0
      const to = inBody ? Math.min(at + this.#bodyLeft, bytes.length) : this.#ends.next(bytes, at)
      if (inBody) this.#bodyLeft -= to - at
      this.#rest = to === bytes.length ? undefined : bytes.subarray(to)
      this.#parsePart(to - at === bytes.length ? bytes : bytes.subarray(at, to))
      at = to
      // Before the next request, to which these limits do not apply.
      if (this.#discarding !== undefined && this.#request?.complete) this.#discarded()
    }
    this.#rest = undefined
  }

  #parsePart(bytes: Buffer): void {
    const before = this.#request
    this.#parse.call(this.#socket, bytes)
    const request = this.#request
    if (request === undefined || request === before || request.complete) return
    // A chunked body has no length; it ends with an empty line, as a head does.
    this.#bodyLeft = Number(request.headers['content-length'] ?? 0)
  }

  /** After each chunk, since Node's parser resumes the socket at the end of each request. */
  #setFlow(): void {
    if (this.#released) return
    if (this.#kept.length > maxKept) {
      this.#paused = true
      this.#socket.pause()
    } else if (this.#paused) {
      this.#paused = false
      this.#socket.resume()
    }
  }

  #answered(reply: Reply): void {
    if (this.#reply !== reply) return
    this.#reply = undefined
    this.#parts.client.ended()
    if (this.#socket.destroyed || this.#failed) return
    if (this.#request?.complete) {
      this.#readNext(reply)
      return
    }
    const timer = setTimeout(() => this.#cut(), lingerMs)
    this.#discarding = { left: lingerBytes, timer }
  }

  /** In another turn of the event loop: a client with many requests must not delay all others. */
  #readNext({ shouldKeepAlive }: Reply): void {
    if (!shouldKeepAlive) this.#released = true
    else if (this.#kept.length > 0) setImmediate(() => this.#readKept())
  }

  #readKept(): void {
    if (this.#released || this.#socket.destroyed || this.#mustWait()) return
    this.#read(this.#kept.take())
    this.#setFlow()
  }

  #isTooMuch(bytes: number): boolean {
    if (this.#discarding === undefined) return false
    this.#discarding.left -= bytes
    if (this.#discarding.left >= 0) return false
    this.#cut()
    return true
  }

  #cut(): void {
    this.#released = true
    this.#parts.faults.closed('unread-body', peerAddress(this.#socket))
    this.#socket.destroy()
  }

  /** The rest of the request has arrived. */
  #discarded(): void {
    clearTimeout(this.#discarding?.timer)
    this.#discarding = undefined
    if (this.#socket.writableEnded) this.#socket.destroy()
  }

  /** The last response is sent. A reset could make a client that still sends lose it. */
  #closeSoon(): void {
    if (this.#failed) this.#parts.lingering.end(this.#socket)
    else if (this.#request?.complete === false) this.#socket.end()
    else Object.getPrototypeOf(this.#socket).destroySoon.call(this.#socket)
  }
}
