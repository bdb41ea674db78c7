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

/** How far ahead of its responses a client is read. Beyond that, the system holds its bytes. */
export const maxKept = 16_384

interface PacedParts {
  readonly client: ClientConnection
  readonly faults: Pick<ClientFaults, 'closed' | 'requestRejected'>
  readonly lingering: Lingering
  /** Unset: the first bytes are never held back. */
  readonly crowd: ArrivalRate | undefined
}

/**
 * A connection that Node's parser reads, one request at a time. Node alone would parse all that has
 * come: a hundred bytes of objects for each byte of small requests, and garbage behind a good
 * request would be found before that request has its response.
 *
 *   held back  a crowd connects: the first bytes wait to see whether the client stays
 *   reading    bytes go to the parser, up to the end of the next request
 *   answering  that request has not had its response; what comes behind it is kept, unread
 *   discarding it has had its response but has not ended: little more of it is read
 *   released   nothing more is parsed: the connection has changed protocol, has had its last response,
 *              or its next bytes are malformed
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
  /** What of the piece under way the parser has not seen. */
  #rest: Buffer | undefined
  #paused = false
  #first = true
  #heldBack = false
  #released = false
  #failed = false
  #discarding: { left: number; readonly timer: NodeJS.Timeout } | undefined

  /** `listen` has Node listen to the socket. */
  constructor(socket: Socket, listen: () => void, parts: PacedParts) {
    this.#socket = socket
    this.#parts = parts
    // Before Node's listener, which would answer a client that has left.
    if (parts.crowd !== undefined) socket.once('end', () => this.#leaveIfHeldBack())
    listen()
    const [parse] = socket.listeners('data')
    this.#parse = parse as (bytes: Buffer) => void
    socket.off('data', this.#parse)
    socket.on('data', this.take)
    socket.once('close', () => clearTimeout(this.#discarding?.timer))
    socket.destroySoon = () => this.#closeSoon()
  }

  /** Reads these bytes, which came next. */
  readonly take = (bytes: Buffer): void => {
    if (this.#released) return
    if (this.#first && this.#parts.crowd?.isCrowd()) this.#holdBack()
    this.#first = false
    if (this.#discarding !== undefined && this.#isTooMuch(bytes.length)) return
    if (this.#heldBack || this.#kept.length > 0 || this.#mustWait()) this.#kept.push(bytes)
    else this.#read(bytes)
    this.#setFlow()
  }

  /** A request was read on this connection. */
  began(request: IncomingMessage, reply: Reply): void {
    this.#request = request
    this.#reply = reply
    this.#parts.client.began()
    reply.once('close', () => this.#answered(reply))
  }

  /** The request of which the parser has not seen the end, if there is one. */
  unfinished(): IncomingMessage | undefined {
    return this.#request?.complete === false ? this.#request : undefined
  }

  /** What came cannot be parsed, or came too late. A response that is under way is the last one. */
  fail(): void {
    this.#released = true
    this.#failed = true
  }

  /** Has Node's parser end, and gives what came behind its last request. */
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
      // Before the next request, which has its own time and may be as long as it likes.
      if (this.#discarding !== undefined && this.#request?.complete) this.#discarded()
    }
    this.#rest = undefined
  }

  #parsePart(bytes: Buffer): void {
    const before = this.#request
    this.#parse.call(this.#socket, bytes)
    const request = this.#request
    if (request === undefined || request === before || request.complete) return
    // Chunks have no length: their end is found as the ends of heads are.
    this.#bodyLeft = Number(request.headers['content-length'] ?? 0)
  }

  /** Node's parser lets the socket flow at the end of each request, so this is said after each piece. */
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
      this.#goOn(reply)
      return
    }
    const timer = setTimeout(() => this.#cut(), lingerMs)
    this.#discarding = { left: lingerBytes, timer }
  }

  /** In another turn of the loop: a client with many requests must not hold up all others. */
  #goOn({ shouldKeepAlive }: Reply): void {
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

  /** The rest of a request that had its response has come. */
  #discarded(): void {
    clearTimeout(this.#discarding?.timer)
    this.#discarding = undefined
    if (this.#socket.writableEnded) this.#socket.destroy()
  }

  /** The last response has left. A client that is still sending is to find it, so it is not reset yet. */
  #closeSoon(): void {
    if (this.#failed) this.#parts.lingering.end(this.#socket)
    else if (this.#request?.complete === false) this.#socket.end()
    else Object.getPrototypeOf(this.#socket).destroySoon.call(this.#socket)
  }
}
