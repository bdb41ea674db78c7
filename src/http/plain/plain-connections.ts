import type { Socket } from 'node:net'
import { ArrivalRate, afterArrivals } from '../connections/arrival-rate.ts'
import type { ClientConnection, ClientConnections } from '../connections/client-connections.ts'
import type { ClientFaults } from '../connections/client-faults.ts'
import { CompleteBody, type PlainIncomingRequest } from '../connections/incoming-request.ts'
import { KeptBytes } from '../connections/kept-bytes.ts'
import type { NodeConnections } from '../connections/node-connections.ts'
import { maxKept } from '../connections/paced-parser.ts'
import { peerAddress } from '../connections/peer-address.ts'
import { setReplyInProgress } from '../connections/reply-in-progress.ts'
import { checkTimeouts } from '../connections/timeout-checks.ts'
import { timeoutError } from '../connections/timeout-error.ts'
import type { PublicListener } from '../port/public-listener.ts'
import { PlainReply, type ReplyingConnection } from './plain-reply.ts'
import { type PlainLimits, type PlainRequest, readPlainRequest } from './plain-request.ts'

interface ConnectionLimits extends PlainLimits {
  readonly headersTimeoutMs: number
  readonly keepAliveTimeoutMs: number
}

interface PlainParts {
  readonly clients: Pick<ClientConnections, 'of'>
  readonly faults: Pick<ClientFaults, 'requestRejected'>
  /** Reads whatever is not plain. */
  readonly node: Pick<NodeConnections, 'readFrom'>
}

/** A connection on which only plain requests have arrived so far. */
interface PlainConnection extends ReplyingConnection {
  readonly client: ClientConnection
  /** Whether it has ever sent a request. */
  hasRequested: boolean
  reply: PlainReply | undefined
  /** Bytes that arrived before the response was sent. */
  kept: KeptBytes | undefined
  /** Whether its first bytes were held back to see whether the client stays. */
  heldBack: boolean
  /** Whether its last response has been sent. */
  closing: boolean
  readonly stopListening: () => void
}

/**
 * Reads plain requests (`plain-request.ts`), which costs less than Node's parser with its objects and
 * streams (decision 13). From the first bytes that are anything else, a connection belongs to Node's
 * parser for good: it reads chunks, partial requests and upgrades, and it alone decides what is
 * malformed. Both emit `request` on the server. Returns the function that reads a new connection.
 *
 *   waiting      for a request; a timeout closes it
 *   responding   bytes that arrive meanwhile are kept
 *   handed over  Node's parser reads it
 */
export function readPlainRequests(
  server: PublicListener,
  limits: ConnectionLimits,
  parts: PlainParts,
): (socket: Socket) => void {
  const reader = new PlainReader(server, limits, parts)
  checkTimeouts(server, () => reader.closeTimedOut())
  const closeIdle = server.closeIdleConnections
  server.closeIdleConnections = () => {
    closeIdle.call(server)
    reader.closeIdle()
  }
  return (socket) => reader.begin(socket)
}

class PlainReader {
  readonly #server: PublicListener
  readonly #limits: ConnectionLimits
  readonly #parts: PlainParts
  /** The value of the Keep-Alive header. */
  readonly #keepAlive: string
  readonly #connections = new Set<PlainConnection>()
  readonly #rate = new ArrivalRate()

  constructor(server: PublicListener, limits: ConnectionLimits, parts: PlainParts) {
    this.#server = server
    this.#limits = limits
    this.#parts = parts
    this.#keepAlive = `timeout=${Math.floor(limits.keepAliveTimeoutMs / 1000)}`
  }

  begin(socket: Socket): void {
    const take = (chunk: Buffer) => this.#read(it, chunk)
    // As Node does without httpAllowHalfOpen: a half-closed connection is closed.
    const end = () => {
      if (it.heldBack && !it.hasRequested) this.#leave(it)
      else socket.end()
    }
    const close = () => {
      this.#connections.delete(it)
      it.reply?.left()
    }
    const it: PlainConnection = {
      socket,
      keepAlive: this.#keepAlive,
      client: this.#parts.clients.of(socket),
      answered: () => this.#responseSent(it),
      hasRequested: false,
      reply: undefined,
      kept: undefined,
      heldBack: false,
      closing: false,
      stopListening() {
        socket.off('data', take).off('end', end).off('close', close).off('error', ignore)
      },
    }
    this.#connections.add(it)
    this.#rate.arrived()
    socket.on('error', ignore).on('close', close).on('end', end).on('data', take)
    setReadingMore(socket, true)
  }

  closeTimedOut(): void {
    const now = performance.now()
    for (const it of this.#connections) {
      if (it.reply !== undefined || it.kept !== undefined) continue
      const waited = now - it.client.idleSince
      if (it.hasRequested && waited > this.#limits.keepAliveTimeoutMs + graceMs) it.socket.destroy()
      if (!it.hasRequested && waited > this.#limits.headersTimeoutMs)
        this.#server.emit('clientError', timeoutError, it.socket)
    }
  }

  /** Closes those that have sent a request before and have none in progress. */
  closeIdle(): void {
    for (const it of [...this.#connections]) {
      if (!it.hasRequested || it.reply !== undefined || it.kept) continue
      // The last responses may still wait to leave together.
      it.socket.uncork()
      it.socket.destroy()
    }
  }

  #read(it: PlainConnection, bytes: Buffer): void {
    // Bytes behind the last request of a connection are ignored.
    if (it.closing) return
    if (it.reply !== undefined || it.kept !== undefined) {
      keep(it, bytes)
      return
    }
    if (!it.hasRequested && !it.heldBack && this.#rate.isCrowd()) {
      this.#holdBack(it, bytes)
      return
    }
    // RFC 9112 2.2: ignore empty lines before a request. Node would wait for the rest of it.
    if (it.hasRequested && isEmptyLines(bytes)) return
    const plain = readPlainRequest(bytes, this.#limits)
    if (plain === undefined) this.#handOver(it, bytes)
    else this.#startRequest(it, plain, bytes)
  }

  #holdBack(it: PlainConnection, bytes: Buffer): void {
    it.heldBack = true
    keep(it, bytes)
    afterArrivals(() => this.#readKept(it))
  }

  #leave({ socket }: PlainConnection): void {
    this.#parts.faults.requestRejected('client-left', peerAddress(socket))
    socket.destroy()
  }

  #startRequest(it: PlainConnection, plain: PlainRequest, bytes: Buffer): void {
    const { socket } = it
    const { method, target, headers, bodyAt, end } = plain
    const reply = new PlainReply(it, method)
    it.hasRequested = true
    it.reply = reply
    if (end < bytes.length) keep(it, bytes.subarray(end))
    it.client.began()
    setReplyInProgress(socket, reply)
    const request: PlainIncomingRequest = {
      method,
      url: target,
      httpVersion: '1.1',
      rawHeaders: headers,
      socket,
      complete: true,
      body: bodyAt === end ? undefined : new CompleteBody(bytes.subarray(bodyAt, end)),
    }
    this.#server.emit('request', request as never, reply as never)
  }

  #responseSent(it: PlainConnection): void {
    const { socket, reply } = it
    it.reply = undefined
    it.client.ended()
    setReplyInProgress(socket, null)
    if (reply?.shouldKeepAlive === false) {
      it.closing = true
      socket.destroySoon()
    } else if (it.kept !== undefined) {
      gatherResponses(socket)
      readOn(() => this.#readKept(it))
    }
  }

  #readKept(it: PlainConnection): void {
    const { kept, socket } = it
    it.kept = undefined
    if (socket.destroyed || kept === undefined) return
    if (kept.length <= maxKept) flow(socket)
    this.#read(it, kept.take())
  }

  #handOver(it: PlainConnection, bytes: Buffer): void {
    this.#connections.delete(it)
    it.stopListening()
    setReadingMore(it.socket, false)
    flow(it.socket)
    this.#parts.node.readFrom(it.socket, bytes)
  }
}

/** Pauses as late as possible: a paused socket does not show that its client has disconnected. */
function keep(it: PlainConnection, bytes: Buffer): void {
  it.kept ??= new KeptBytes()
  it.kept.push(bytes)
  if (it.kept.length > maxKept) it.socket.pause()
}

/** The responses of this turn of the event loop, to requests that were sent ahead, leave together. */
function gatherResponses(socket: Socket): void {
  if (socket.writableCorked > 0) return
  socket.cork()
  setImmediate(() => socket.uncork())
}

function flow(socket: Socket): void {
  if (socket.isPaused()) socket.resume()
}

/** Beyond the announced timeout: a request sent at the last moment is still on its way. */
const graceMs = 1000

/**
 * After each chunk, Node schedules a tick to see whether it should read more, unless `readingMore` is
 * set. A flowing socket reads by itself, and that tick is 4 % of a request.
 */
function setReadingMore(socket: Socket, isReading: boolean): void {
  const { _readableState: state } = socket as { _readableState?: { readingMore?: boolean } }
  if (state?.readingMore !== undefined) state.readingMore = isReading
}

function isEmptyLines(bytes: Buffer): boolean {
  return bytes[0] === 0x0d && /^(?:\r\n)+$/.test(bytes.toString('latin1'))
}

function ignore(): void {}

/** More than this in one turn of the event loop would delay all other connections. */
const perTurn = 16

let left = perTurn

/**
 * Reads the next request that a client has sent ahead, once the one before has its response. Mostly at
 * once: with a turn of the event loop for each request, a busy machine makes the client wait for the
 * CPU before every response. The limit is for all connections together.
 */
function readOn(job: () => void): void {
  if (left === 0) {
    setImmediate(job)
    return
  }
  if (left === perTurn) setImmediate(beginTurn)
  left--
  queueMicrotask(job)
}

function beginTurn(): void {
  left = perTurn
}
