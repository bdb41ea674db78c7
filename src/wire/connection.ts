import type { Socket } from 'node:net'
import { nextTick, platform } from 'node:process'
import type { Connector } from './connect.ts'
import { atEndOfTurn, callBegan, callEnded } from './end-of-turn.ts'
import { mayRepeat } from './repeatable.ts'
import type { ResponseHandler, WireRequest } from './request-head.ts'
import type { ResponseHead } from './response-head.ts'
import { createResponseReader, type Progress, type ResponseReader } from './response-reader.ts'
import { afterSurplus, SurplusCheck } from './surplus.ts'
import type { TimeoutTicks } from './timeout-ticks.ts'
import { sendUpload } from './upload.ts'
import { type HowFar, Malformed, unsent, WireError, type WireProblem } from './wire-error.ts'

/** A request that waits for its response. */
export interface Call {
  /** The connection it has, while it has one. */
  connection: Carrier | undefined
  ended: boolean
}

/** A connection, or the stream of one, that carries a request. */
interface Carrier {
  resume(): void
  /** Ends the request without a word to its handler. */
  abandon(): void
}

/** A request of HTTP/1.1. */
export interface PlainCall extends Call {
  readonly request: WireRequest
  /** The bytes of the request before the body. */
  readonly head: string
  readonly handler: ResponseHandler
  /** Whether it needs a connection that no other request has used. */
  readonly fresh: boolean
  readonly timeouts: TimeoutTicks
}

interface ConnectionParts {
  readonly connector: Connector
  readonly timeouts: TimeoutTicks
  /** Whether it is for one request only, and may become a tunnel. */
  readonly forUpgrade: boolean
  /** It is connected, or its request has ended and another one may follow. */
  readonly onFree: (connection: Connection) => void
  /** It is closed: with the reason, if it never connected. */
  readonly onGone: (connection: Connection, neverConnected: Error | undefined) => void
}

/**
 * All connections read into this buffer: its bytes are used up before the next one reads. On Windows,
 * reads begin ahead of time, so a shared buffer would be written to by several at once.
 */
const shared = platform === 'win32' ? undefined : Buffer.allocUnsafeSlow(65_536)

/** A connection that was free for longer, though never used, may have been closed by its server. */
const idleAfterMs = 1

/**
 * One connection to a server. It has one request at a time: with more, one caller could get the
 * response of another.
 *
 *   connecting  until the socket is ready; the connect timeout ends it
 *   free        no request; data that arrives now closes it
 *   departing   has a request that is not sent yet
 *   sent        the server has the request; the response and body timeouts end it
 *   gone        closed, or handed over as a tunnel
 */
export class Connection {
  readonly #parts: ConnectionParts
  readonly #socket: Socket
  readonly #buffer: Buffer
  readonly #isSecure: boolean
  readonly #reader: ResponseReader
  readonly #surplus: SurplusCheck
  #state: 'connecting' | 'free' | 'departing' | 'sent' | 'gone' = 'connecting'
  #call: PlainCall | undefined
  #heard = false
  #hasServed = false
  /** Whether the connection had another request before, or was idle, when this one got it. */
  #reused = false
  #freeSince = 0
  #paused = false
  #uploading = false
  #blocked = false
  /** The timeouts of the request that the connection has. */
  #timeouts: TimeoutTicks
  #ticksLeft: number
  #failure: Error | undefined

  /** Begins to connect. */
  constructor(parts: ConnectionParts) {
    const { connector, forUpgrade, timeouts } = parts
    this.#parts = parts
    this.#isSecure = connector.readyEvent === 'secureConnect'
    this.#timeouts = timeouts
    this.#ticksLeft = timeouts.connect
    this.#reader = createResponseReader({
      complete: (head, body) => this.#call?.handler.complete(head, body),
      head: (head) => this.#call?.handler.head(head),
      data: (chunk, release) => {
        const call = this.#call
        if (call !== undefined && !call.handler.data(chunk, release)) this.#paused = true
      },
      switched: (head, rest) => this.#becomeTunnel(head, rest),
    })
    const buffer = shared ?? Buffer.allocUnsafeSlow(65_536)
    this.#buffer = buffer
    // A tunnel needs the stream; everything else is cheaper without.
    const onRead = { buffer, callback: (count: number) => this.#read(buffer.subarray(0, count)) }
    const socket = connector.open(forUpgrade ? undefined : onRead)
    this.#socket = socket
    this.#surplus = new SurplusCheck(socket, this.#isSecure)
    if (forUpgrade) socket.on('data', this.#onData)
    socket.on(connector.readyEvent, this.#onReady)
    socket.on('end', this.#onEnd)
    socket.on('error', this.#onError)
    socket.on('close', this.#onClose)
    socket.on('drain', this.#onDrain)
  }

  /** Whether it is connected and has no request. */
  isFree(): boolean {
    return this.#state === 'free' && !this.#socket.destroyed
  }

  /** Whether the event loop has looked for bytes on it, or does so in this turn, since it became free. */
  isPolled(): boolean {
    return this.#surplus.isPolled()
  }

  /** Sends a request. The connection must be free. */
  start(call: PlainCall): void {
    const { request } = call
    this.#reused = this.#hasServed || this.idleMs() >= idleAfterMs
    this.#state = 'departing'
    this.#call = call
    call.connection = this
    this.#heard = false
    this.#uploading = false
    this.#blocked = false
    this.#reader.begin(request.method, request.upgrade)
    this.#timeouts = call.timeouts
    this.#ticksLeft = call.timeouts.response
    callBegan()
    call.handler.sent()
    if (this.#surplus.needsPoll(request)) setImmediate(setImmediate, this.#depart)
    // The server may be about to close it as idle: on a busy machine a turn can last that long.
    else if (!this.#hasServed) this.#depart()
    else atEndOfTurn(this.#depart, this.#hasServed && mayRepeat(request))
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#ticksLeft = this.#timeouts.body
    this.#socket.resume()
  }

  /** Closes it without a word to the handler of its request. */
  abandon(): void {
    this.#endCall()
    this.destroy()
  }

  /** Closes it; the request in progress fails. */
  destroy(): void {
    this.#socket.destroy()
  }

  /** The clock of the pool: ends what has lasted too long. */
  tick(): void {
    if (!this.#waitsForServer() || --this.#ticksLeft > 0) return
    if (this.#state === 'connecting') {
      this.#failure ??= new WireError('connect-timeout', 'connect timeout', unsent)
      this.destroy()
    } else if (this.#reader.hasHead()) {
      this.#fail('body-timeout', 'timed out waiting for more of the response body')
    } else this.#fail('response-timeout', 'timed out waiting for the response')
  }

  /** The idle timeout that the server has announced, if any. */
  keepAliveSeconds(): number | undefined {
    return this.#reader.lastHead()?.keepAliveSeconds
  }

  /** For how many milliseconds it has been idle. */
  idleMs(): number {
    return performance.now() - this.#freeSince
  }

  readonly #onData = (bytes: Buffer): void => void this.#read(bytes)

  readonly #onReady = (): void => this.#becomeFree()

  readonly #onEnd = (): void => {
    const call = this.#call
    if (call !== undefined && this.#reader.endsHere()) this.#settle('done', call)
    else this.#fail('closed', 'connection closed by the upstream')
  }

  readonly #onError = (error: NodeJS.ErrnoException): void => {
    const { code = 'closed', message } = error
    this.#failure ??= new WireError(code, message, this.#howFar(), error)
    this.#failWith(this.#failure)
  }

  readonly #onClose = (): void => {
    const neverConnected = this.#state === 'connecting'
    this.#fail('closed', 'connection closed by the upstream')
    if (this.#state === 'gone') return
    this.#state = 'gone'
    const error = neverConnected
      ? (this.#failure ?? new WireError('closed', 'closed', unsent))
      : undefined
    this.#parts.onGone(this, error)
  }

  readonly #onDrain = (): void => {
    if (!this.#blocked) return
    this.#blocked = false
    this.#restartTimeout()
    if (this.#uploading) this.#call?.request.upload?.resume()
  }

  #becomeFree(): void {
    this.#state = 'free'
    this.#freeSince = performance.now()
    this.#surplus.restart()
    this.#parts.onFree(this)
  }

  /** The server has switched protocols: from here on, the tunnel owns the socket. */
  #becomeTunnel(head: ResponseHead, rest: Buffer): void {
    const socket = this.#socket
    socket.off('data', this.#onData)
    socket.off('end', this.#onEnd)
    socket.off('error', this.#onError)
    socket.off('close', this.#onClose)
    socket.off('drain', this.#onDrain)
    socket.on('error', () => {})
    this.#state = 'gone'
    this.#parts.onGone(this, undefined)
    socket.pause()
    socket.unshift(rest)
    this.#call?.handler.upgraded(head, socket)
    this.#endCall()
  }

  #howFar(): HowFar {
    const sent = this.#state === 'sent'
    return { sent, heard: this.#heard, reused: this.#reused || this.#state === 'departing' }
  }

  /** Returns the request that has ended, in whatever way, and forgets it. */
  #endCall(): PlainCall | undefined {
    const call = this.#call
    this.#call = undefined
    this.#paused = false
    if (call !== undefined) {
      callEnded()
      call.ended = true
      call.connection = undefined
    }
    return call
  }

  #failWith(error: Error): void {
    const call = this.#endCall()
    this.destroy()
    call?.handler.failed(error)
  }

  #fail(problem: WireProblem, message: string): void {
    if (this.#call !== undefined) this.#failWith(new WireError(problem, message, this.#howFar()))
    else this.destroy()
  }

  /** The response is malformed, or its handler threw. */
  #failReading(error: unknown): void {
    const isMalformed = error instanceof Malformed
    this.#failWith(
      isMalformed ? new WireError('malformed', error.message, this.#howFar()) : (error as Error),
    )
  }

  /** Returns whether to go on reading. */
  #read(bytes: Buffer): boolean {
    const call = this.#call
    // The next request would get unsolicited data as its response.
    if (call === undefined || this.#state !== 'sent') {
      this.#fail('closed', 'unsolicited data on an idle upstream connection')
      return false
    }
    this.#heard = true
    let progress: Progress
    try {
      progress = this.#reader.read(bytes)
    } catch (error) {
      this.#failReading(error)
      return false
    }
    // It became a tunnel, or its handler aborted it.
    if (this.#call === undefined) return false
    if (progress !== 'more') {
      this.#settle(progress, call, this.#isSecure || bytes.length === this.#buffer.length)
    } else if (this.#reader.hasHead()) this.#ticksLeft = this.#timeouts.body
    if (this.#paused && this.#parts.forUpgrade) this.#socket.pause()
    return !this.#paused
  }

  /** The response is complete. `mayHoldMore`: whether more may have arrived than was read. */
  #settle(progress: Progress, call: PlainCall, mayHoldMore = false): void {
    const reader = this.#reader
    try {
      if (reader.isStreamed()) call.handler.end(reader.trailers())
    } catch (error) {
      this.#failReading(error)
      return
    }
    // TLS hands out what it has decrypted even while paused, so a response can end meanwhile.
    if (this.#paused) this.#socket.resume()
    this.#endCall()
    // After the last request a server may keep its side open all the same.
    const isLast = call.request.closes === true || reader.lastHead()?.persistent !== true
    if (progress === 'excess' || this.#uploading || isLast) this.destroy()
    else afterSurplus(this.#offer, { isStreamed: reader.isStreamed(), mayHoldMore })
  }

  readonly #offer = (): void => {
    if (this.#socket.destroyed) return
    this.#hasServed = true
    this.#becomeFree()
  }

  /** A slow client is not the fault of the server. */
  #waitsForServer(): boolean {
    if (this.#state === 'connecting') return true
    if (this.#call === undefined || this.#paused) return false
    return !this.#uploading || this.#blocked || this.#reader.hasHead()
  }

  #restartTimeout(): void {
    const { response, body } = this.#timeouts
    this.#ticksLeft = this.#reader.hasHead() ? body : response
  }

  readonly #depart = (): void => {
    const call = this.#call
    // It was aborted in the same turn.
    if (call === undefined) return
    if (this.#surplus.finds(call.request)) {
      // Later: its handler does not know its call yet, and would send another one meanwhile.
      nextTick(() => this.#fail('closed', 'connection closed by the upstream'))
      return
    }
    this.#state = 'sent'
    const socket = this.#socket
    if (call.request.upload === undefined) socket.write(call.head, 'latin1')
    else {
      // The head and the beginning of the body in one packet.
      socket.cork()
      socket.write(call.head, 'latin1')
      this.#startUpload(call)
      // The longer this waits, the more requests meet the close of their connection.
      if (this.#uploading) nextTick(() => socket.uncork())
      else socket.uncork()
    }
  }

  #startUpload(call: PlainCall): void {
    const { upload } = call.request
    if (upload === undefined) return
    this.#uploading = true
    sendUpload(upload, this.#socket, {
      isWanted: () => this.#call === call,
      onBlocked: () => {
        if (this.#blocked) return
        this.#blocked = true
        // A server that pauses while it reads a body gets as long as one that pauses while it sends.
        const { response, body } = this.#timeouts
        this.#ticksLeft = Math.max(response, body)
      },
      onSent: () => {
        this.#uploading = false
        this.#restartTimeout()
      },
      onFailed: (error) => this.#failWith(error),
    })
  }
}
