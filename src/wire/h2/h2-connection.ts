import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { ErrorCode } from '../../h2/error-codes.ts'
import { Session } from '../../h2/session.ts'
import type { Connector } from '../connect.ts'
import { mayRepeat } from '../repeatable.ts'
import { unsent, WireError } from '../wire-error.ts'
import type { StreamCall, StreamCarrier } from './stream-call.ts'

/** Each limit, in ticks of the pool's clock. */
export interface ConnectionTicks {
  readonly connect: number
  readonly idle: number
  /** Of silence, until a PING is sent. */
  readonly ping: number
  /** Of silence while a request waits for its response, until a first PING is sent. */
  readonly earlyPing: number
  readonly pingTimeout: number
  readonly age: number
}

interface ConnectionParts {
  readonly connector: Connector
  readonly ticks: ConnectionTicks
  readonly maxStreams: number
  /** The server has sent its settings: requests may begin. */
  readonly onReady: (connection: H2Connection) => void
  /** A request has ended. `onRoom` follows. */
  readonly onEnded: () => void
  /** Other requests may begin, or the last one has ended. */
  readonly onRoom: (connection: H2Connection) => void
  /** The server chose HTTP/1.1, and the connection is closed. */
  readonly onOtherProtocol?: (() => void) | undefined
  /** It broke: neither side had announced its end. Its requests fail next. */
  readonly onBroken: () => void
  /** It is closed: with the reason, if it was never ready. */
  readonly onGone: (connection: H2Connection, neverReady: Error | undefined) => void
}

/** How much a server may send ahead on a stream: what a client that does not read costs us at most. */
const streamWindow = 262_144

/** As in HTTP/1.1, with room for what RFC 7541 4.1 adds to each field. */
const headerLimits = { headerBytes: 32_768, headerCount: 1000 }

/** A connection that was free for less cannot have been closed as idle. */
const idleAfterMs = 1

/**
 * Servers close a connection on which too many streams were reset (CVE-2023-44487), with the requests of
 * other clients. So it gets no more requests long before.
 */
const maxResets = 100

/**
 * One HTTP/2 connection to a server.
 *
 *   connecting  until the settings of the server have arrived; the connect timeout ends it
 *   ready       requests begin and end, each on its stream
 *   leaving     gets no more requests: it is old or idle, or the server has sent GOAWAY
 *   gone        closed
 */
export class H2Connection {
  readonly #parts: ConnectionParts
  readonly #socket: Socket
  readonly #carrier: StreamCarrier
  readonly #calls = new Set<StreamCall>()
  /** Responses that have begun in the chunk that is being read. */
  #held: StreamCall[] = []
  #session: Session | undefined
  #state: 'connecting' | 'ready' | 'gone' = 'connecting'
  /** How many streams the server has shown to take, after it has refused one. */
  #allowed: number
  #resets = 0
  #hasServed = false
  #idleSince = 0
  #ticksLeft: number
  #ageTicks = 0
  #idleTicks = 0
  #quietTicks = 0
  /** Whether the server has begun a response since the last PING, or there was none. */
  #mayPingEarly = true
  /** Until an unanswered PING ends it. */
  #pingTicks = 0
  #isOrderly = false
  #failure: WireError | undefined

  /** Begins to connect. */
  constructor(parts: ConnectionParts) {
    this.#parts = parts
    this.#allowed = parts.maxStreams
    this.#ticksLeft = parts.ticks.connect
    this.#carrier = {
      open: (call) => this.#openStream(call),
      hold: (call) => {
        this.#held.push(call)
        this.#mayPingEarly = true
      },
      hasReset: (isTimeout) => this.#hasReset(isTimeout),
      refused: () => {
        this.#allowed = Math.max(1, this.#calls.size - 1)
      },
      released: (call, isServed) => this.#released(call, isServed),
      failure: () => this.#failure,
    }
    const socket = parts.connector.open()
    this.#socket = socket
    socket.on(parts.connector.readyEvent, () => this.#connected())
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('drain', () => this.#session?.drained())
    socket.on('error', ({ code = 'closed', message }: NodeJS.ErrnoException) => {
      this.#failure ??= new WireError(code, message, unsent)
      this.#disconnected()
    })
    socket.on('end', () => this.#disconnected())
    socket.on('close', () => this.#closed())
  }

  /** How many requests may begin now. */
  room(): number {
    const session = this.#session
    if (this.#state !== 'ready' || session === undefined || !session.mayOpen()) return 0
    return Math.max(0, this.limit() - this.#calls.size)
  }

  /** How many requests it takes at a time. */
  limit(): number {
    return Math.min(this.#allowed, this.#session?.peerMaxStreams ?? this.#allowed)
  }

  isIdle(): boolean {
    return this.#calls.size === 0
  }

  /** Sends a request. The connection must have room. */
  start(call: StreamCall): void {
    const wasIdle = this.isIdle() && performance.now() - this.#idleSince >= idleAfterMs
    this.#calls.add(call)
    this.#idleTicks = 0
    call.begin(this.#carrier, wasIdle || this.#hasServed)
    // The server may have closed it meanwhile, and this request could not be sent again.
    if (wasIdle && !mayRepeat(call.request)) setImmediate(setImmediate, () => this.#depart(call))
    else this.#depart(call)
  }

  /** The clock of the pool. */
  tick(): void {
    if (this.#state !== 'ready' || this.#session?.hasEnded !== false) {
      if (--this.#ticksLeft > 0) return
      this.#failure ??= new WireError('connect-timeout', 'connect timeout', unsent)
      this.#socket.destroy()
      return
    }
    for (const call of this.#calls) call.tick()
    this.#tickPing()
    const { ticks } = this.#parts
    if (this.#calls.size === 0 && ++this.#idleTicks >= ticks.idle) this.shutDown()
    else if (++this.#ageTicks >= ticks.age) this.shutDown()
  }

  /** It gets no more requests, and is closed after the last one. */
  shutDown(): void {
    this.#isOrderly = true
    if (this.#session === undefined) this.#socket.destroy()
    else this.#session.shutDown()
  }

  /** Closes it; requests in progress fail. */
  destroy(): void {
    this.#socket.destroy()
  }

  #connected(): void {
    const { readyEvent } = this.#parts.connector
    if (readyEvent === 'secureConnect' && (this.#socket as TLSSocket).alpnProtocol !== 'h2') {
      const { onOtherProtocol } = this.#parts
      this.#failure ??= new WireError('no-h2', 'the upstream does not offer HTTP/2 (ALPN)', unsent)
      this.#socket.destroy()
      onOtherProtocol?.()
      return
    }
    const { maxStreams } = this.#parts
    this.#session = new Session(
      'client',
      { write: (bytes) => this.#socket.destroyed || this.#socket.write(bytes) },
      // As much for all streams together: a client that does not read must not block the others.
      { ...headerLimits, maxStreams: 0, streamWindow, connectionWindow: streamWindow * maxStreams },
      {
        request: () => {
          throw new Error('a server sends no requests')
        },
        rejected() {},
        idle() {},
        goaway: () => {
          this.#isOrderly = true
        },
        settings: () => this.#settled(),
        ended: ({ reason, by }) => {
          if (by === 'us' && !this.#isOrderly) {
            this.#failure ??= new WireError('closed', `HTTP/2 error: ${reason}`, unsent)
          }
          // If the server does not read any more, the clock ends it.
          this.#ticksLeft = this.#parts.ticks.connect
          this.#socket.destroySoon()
        },
      },
    )
  }

  /** The settings of the server have arrived, or changed. */
  #settled(): void {
    if (this.#state !== 'connecting') {
      this.#parts.onRoom(this)
      return
    }
    if (this.#session?.peerMaxStreams === 0) {
      this.#failure ??= new WireError('closed', 'the upstream allows no streams', unsent)
      this.#socket.destroy()
      return
    }
    this.#state = 'ready'
    this.#idleSince = performance.now()
    this.#parts.onReady(this)
  }

  #read(chunk: Buffer): void {
    const session = this.#session
    if (session === undefined) return
    if (!session.hasPeerSettings && chunk.toString('latin1', 0, 5) === 'HTTP/') {
      this.#failure ??= new WireError('no-h2', 'the upstream speaks HTTP/1.1, not HTTP/2', unsent)
      this.#socket.destroy()
      return
    }
    this.#quietTicks = 0
    session.receive(chunk)
    if (this.#held.length === 0) return
    const held = this.#held
    this.#held = []
    for (const call of held) call.deliver()
  }

  #depart(call: StreamCall): void {
    if (call.ended) return
    if (this.#session?.mayOpen()) call.depart()
    else {
      const howFar = { sent: false, heard: false, reused: true }
      call.failUnsent(new WireError('closed', 'connection closed by the upstream', howFar))
    }
  }

  #openStream(call: StreamCall) {
    const { request, fields } = call
    const session = this.#session as Session
    return session.open(fields, request.upload === undefined, call, request.method === 'HEAD')
  }

  #released(call: StreamCall, isServed: boolean): void {
    if (!this.#calls.delete(call)) return
    this.#parts.onEnded()
    this.#hasServed = true
    if (isServed && this.#allowed < this.#parts.maxStreams) this.#allowed++
    if (this.#calls.size === 0) this.#idleSince = performance.now()
    this.#parts.onRoom(this)
  }

  #hasReset(isTimeout: boolean): void {
    this.#resets++
    if (isTimeout) this.#ping()
    if (this.#resets >= maxResets) this.shutDown()
  }

  #tickPing(): void {
    if (this.#pingTicks > 0) {
      if (--this.#pingTicks > 0) return
      this.#failure ??= new WireError('closed', 'no answer to an HTTP/2 PING', unsent)
      this.#parts.onBroken()
      this.#session?.destroy(ErrorCode.noError, 'no answer to PING')
      this.#socket.destroy()
      return
    }
    if (this.#calls.size > 0 && ++this.#quietTicks >= this.#pingAfter()) this.#ping()
  }

  /**
   * A host that has vanished is noticed soon, and one that is slow answers the PING. Servers of gRPC count
   * PINGs between which they have sent nothing, so there is one for each silence.
   */
  #pingAfter(): number {
    const { ping, earlyPing } = this.#parts.ticks
    if (!this.#mayPingEarly || this.#quietTicks < earlyPing) return ping
    for (const call of this.#calls) if (call.waitsForResponse()) return earlyPing
    return ping
  }

  #ping(): void {
    if (this.#pingTicks > 0) return
    this.#pingTicks = this.#parts.ticks.pingTimeout
    this.#quietTicks = 0
    this.#mayPingEarly = false
    this.#session?.ping(() => {
      this.#pingTicks = 0
    })
  }

  #disconnected(): void {
    if (!this.#isOrderly) this.#parts.onBroken()
    this.#session?.disconnected('connection closed by the upstream')
    this.#socket.destroy()
  }

  #closed(): void {
    if (this.#state === 'gone') return
    const wasReady = this.#state === 'ready'
    this.#state = 'gone'
    this.#session?.disconnected('connection closed by the upstream')
    // Calls that had no stream yet.
    for (const call of [...this.#calls]) this.#depart(call)
    const closed = new WireError('closed', 'connection closed by the upstream', unsent)
    this.#parts.onGone(this, wasReady ? undefined : (this.#failure ?? closed))
  }
}
