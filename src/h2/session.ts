import {
  beginResponseBody,
  checkData,
  checkRequestEnd,
  checkTrailers,
  hasWholeResponse,
} from './body-length.ts'
import { ClosedStreams } from './closed-streams.ts'
import { ConnectionError, ErrorCode, protocolError } from './error-codes.ts'
import { FloodError, FloodLimits } from './flood-limits.ts'
import {
  Flag,
  FrameType,
  goawayFrame,
  headersFrames,
  maxWindow,
  numberFrame,
  smallFrame,
} from './frames.ts'
import { greeting } from './greeting.ts'
import { Decoder, type Field } from './hpack/decoder.ts'
import { Encoder } from './hpack/encoder.ts'
import { type DataFrame, type FrameHandler, IncomingFrames } from './incoming-frames.ts'
import { LingeringStreams } from './lingering-streams.ts'
import {
  MalformedMessage,
  type RequestFields,
  readRequest,
  readResponse,
  readTrailers,
} from './message-fields.ts'
import { PeerSettings } from './peer-settings.ts'
import { ReceiveWindows } from './receive-windows.ts'
import { type Output, SendQueue } from './send-queue.ts'
import type { SessionEnd, SessionEvents, SessionSettings } from './session-events.ts'
import { Stream, type StreamAbort, type StreamEvents, type StreamOwner } from './stream.ts'

/**
 * One HTTP/2 connection (RFC 9113), of either side, apart from the socket: bytes come in through
 * `receive` and leave through the `output`.
 *
 *   greeting   the client's preface and the first SETTINGS are to come
 *   open       streams begin and end
 *   leaving    GOAWAY was sent or received: no streams begin, the others go on
 *   ended      an error, or the last stream of a session that is leaving
 *
 * A stream of either side:
 *
 *   open         both sides may send
 *   half-closed  one side has sent END_STREAM
 *   closed       both have, or one has sent RST_STREAM, or a server has sent its response
 *   lingering    of those: the client still has to learn that it should stop its request
 */
export class Session implements StreamOwner {
  readonly #isServer: boolean
  readonly #settings: SessionSettings
  readonly #events: SessionEvents
  readonly #incoming: IncomingFrames
  readonly #decoder: Decoder
  readonly #encoder = new Encoder()
  readonly #floods: FloodLimits
  readonly #queue: SendQueue
  readonly #windows: ReceiveWindows
  readonly #peer: PeerSettings
  readonly #streams = new Map<number, Stream>()
  readonly #closed: ClosedStreams
  readonly #lingering: LingeringStreams
  /** Requests that arrived in the chunk that is being read. */
  #arrived: [Stream, RequestFields][] = []
  #isAcknowledged = false
  #lastPeerId = 0
  #nextId = 1
  /** Streams of the peer after this one are ignored. */
  #refuseAfter = maxWindow
  /** When the chunk that is being read arrived. */
  #now = 0
  #isLeaving = false
  #isEnded = false
  readonly #pings: (() => void)[] = []

  constructor(
    role: 'server' | 'client',
    output: Output,
    settings: SessionSettings,
    events: SessionEvents,
  ) {
    this.#isServer = role === 'server'
    this.#settings = settings
    this.#events = events
    this.#incoming = new IncomingFrames(role, settings.headerBytes, this.#handler())
    this.#decoder = new Decoder(settings)
    this.#floods = new FloodLimits(role)
    this.#closed = new ClosedStreams(Math.max(minRemembered, settings.maxStreams))
    this.#lingering = new LingeringStreams({
      ping: (answered) => this.ping(answered),
      reset: (streamId) => {
        this.#resetUnknown(streamId, ErrorCode.noError)
        this.#endIfDone()
      },
      ended: (streamId) => {
        this.#closed.add(streamId, 'ended')
        this.#endIfDone()
      },
    })
    this.#queue = new SendQueue(role, output, {
      sentFrame: (bytes) => this.#floods.sent(bytes),
      encode: (fields) => this.#encoder.encode(fields),
      localEnded: (stream) => this.#localEnded(stream),
    })
    this.#peer = new PeerSettings(role, {
      tableSize: (bytes) => this.#encoder.limit(bytes),
      windowChanged: (more) => this.#changeWindows(more),
    })
    this.#windows = new ReceiveWindows(settings, (frame) => this.#queue.control(frame))
    for (const frame of greeting(role, settings)) this.#queue.control(frame)
  }

  /** Since when a frame or header block is incomplete, in `performance.now()` time. */
  get unfinishedSince(): number | undefined {
    return this.#incoming.unfinishedSince
  }

  /** The streams that are open. */
  get size(): number {
    return this.#streams.size
  }

  get hasEnded(): boolean {
    return this.#isEnded
  }

  /** Whether neither side has sent GOAWAY. */
  get isOpen(): boolean {
    return !this.#isLeaving && !this.#isEnded
  }

  /** How many streams the peer lets us have open. */
  get peerMaxStreams(): number {
    return this.#peer.maxStreams
  }

  get hasPeerSettings(): boolean {
    return this.#peer.hasArrived
  }

  receive(chunk: Buffer): void {
    if (this.#isEnded) return
    this.#now = performance.now()
    try {
      if (this.#queue.unread > maxUnread) throw new FloodError('unread-answers')
      this.#incoming.receive(chunk)
      this.#deliver()
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      this.#fail(error)
      return
    }
    this.#queue.flush()
  }

  /** Only of a client: begins a request, if `mayOpen`. `bodyless`: its response has no body. */
  open(
    fields: readonly string[],
    endStream: boolean,
    events: StreamEvents,
    bodyless = false,
  ): Stream {
    const stream = this.#create(this.#nextId, events)
    this.#nextId += 2
    stream.isBodyless = bodyless
    stream.sendHeaders(fields, endStream)
    return stream
  }

  /** Whether another stream may be opened now. */
  mayOpen(): boolean {
    return this.isOpen && this.#streams.size < this.#peer.maxStreams && this.#nextId < maxWindow
  }

  /** Calls `answered` when the peer has answered a PING. */
  ping(answered: () => void): void {
    if (this.#isEnded) return
    this.#pings.push(answered)
    this.#queue.control(smallFrame(FrameType.ping, 0, 0, Buffer.alloc(8)))
  }

  /** Asks the peer to open no more streams. Those that it opens nevertheless are served. */
  announceShutdown(): void {
    if (this.#isEnded || this.#isLeaving) return
    this.#queue.control(goawayFrame(maxWindow, ErrorCode.noError))
  }

  /** Takes no more streams, and ends after the last one that is open. */
  shutDown(): void {
    if (this.#isEnded || this.#refuseAfter !== maxWindow) return
    this.#isLeaving = true
    this.#refuseAfter = this.#lastPeerId
    this.#queue.control(goawayFrame(this.#lastPeerId, ErrorCode.noError))
    this.#endIfDone()
  }

  /** Ends it now, with an error that the peer is told. */
  destroy(code: number, reason: string): void {
    this.#fail(new ConnectionError(code, reason))
  }

  /** The connection is closed. */
  disconnected(reason: string): void {
    if (this.#isEnded) return
    this.#end({ code: ErrorCode.noError, reason, by: 'peer', flood: undefined }, false)
  }

  /** The socket takes more. */
  drained(): void {
    this.#queue.pump()
  }

  sendHeaders(stream: Stream, fields: readonly string[], endStream: boolean): void {
    this.#queue.head(stream, fields, endStream)
  }

  ready(stream: Stream): void {
    this.#queue.ready(stream)
  }

  reset(stream: Stream, code: number, reason: string): void {
    const abort = { code, by: 'us', reason, isUnprocessed: false, isMalformed: false } as const
    this.#sendReset(stream, code, abort)
  }

  consumed(stream: Stream, bytes: number): void {
    if (!this.#isEnded) this.#windows.consumed(stream, bytes)
  }

  #handler(): FrameHandler {
    return {
      dataBegins: (streamId, frame) => this.#beginData(streamId, frame),
      data: (streamId, data, flowBytes, isLast) =>
        this.#takeData(streamId, data, flowBytes, isLast),
      headers: (streamId, block, endStream) => this.#takeBlock(streamId, block, endStream),
      priority: (streamId, code) => this.#takePriority(streamId, code),
      reset: (streamId, code) => this.#takeReset(streamId, code),
      settings: (settings) => this.#takeSettings(settings),
      settingsAcknowledged: () => this.#takeAcknowledgment(),
      ping: (payload) => this.#takePing(payload),
      pingAnswered: () => this.#takePingAnswer(),
      goaway: (last, code) => this.#takeGoaway(last, code),
      windowUpdate: (streamId, more) => this.#takeWindowUpdate(streamId, more),
      unknown: () => this.#floods.spend('unknown-frame'),
    }
  }

  /** What is wrong with a frame is found before any of its data is delivered. */
  #beginData(streamId: number, { dataBytes, flowBytes, endStream }: DataFrame): void {
    this.#windows.check(flowBytes)
    if (dataBytes > 0) this.#floods.received()
    else if (!endStream) this.#floods.spend('empty-data')
    const stream = this.#streams.get(streamId)
    if (stream === undefined || stream.remoteEnded) {
      if (dataBytes === 0) this.#floods.spend('late-frame')
      this.#lateFrame(streamId, stream, endStream)
    } else if (flowBytes > stream.receiveWindow) {
      this.#breakStream(stream, ErrorCode.flowControlError, 'stream window exceeded')
    } else if (!this.#isServer && !stream.hasHead) {
      this.#breakStream(stream, ErrorCode.protocolError, 'DATA before the response')
    } else this.#guard(stream, () => checkData(stream, dataBytes, endStream))
  }

  #takeData(streamId: number, data: Buffer, flowBytes: number, isLast: boolean): void {
    const stream = this.#streams.get(streamId)
    this.#windows.received(flowBytes, stream)
    // Closed, perhaps since the beginning of the frame: the rest of it is dropped.
    if (stream === undefined) {
      if (isLast) this.#lingering.ended(streamId)
      return
    }
    if (stream.bodyLeft !== undefined) stream.bodyLeft -= data.length
    // Only we read padding.
    if (data.length < flowBytes) this.consumed(stream, flowBytes - data.length)
    if (data.length > 0) {
      this.#deliver()
      if (stream.isClosed) return
      stream.events.data(data)
    }
    if (isLast && !stream.isClosed) this.#remoteEnded(stream, [])
  }

  /** Every block is decoded, whatever becomes of its stream: the next ones refer to it. */
  #takeBlock(streamId: number, bytes: Buffer, endStream: boolean): void {
    const { fields, tooLarge } = this.#decoder.decode(bytes)
    const stream = this.#streams.get(streamId)
    if (stream !== undefined) this.#takeLaterBlock(stream, { fields, tooLarge, endStream })
    else if (this.#isServer && streamId > this.#lastPeerId) {
      this.#takeRequest(streamId, { fields, tooLarge, endStream })
    } else {
      this.#floods.spend('late-frame')
      this.#lateFrame(streamId, undefined, endStream)
    }
  }

  #takeRequest(streamId: number, block: Block): void {
    if (streamId % 2 === 0) throw protocolError('a client opened an even stream')
    this.#lastPeerId = streamId
    if (streamId > this.#refuseAfter) {
      this.#floods.spend('late-frame')
      return
    }
    if (this.#streams.size + this.#lingering.size >= this.#settings.maxStreams) {
      this.#floods.spend('stream-error')
      this.#resetUnknown(streamId, ErrorCode.refusedStream)
      this.#events.rejected('refused', 'too many streams')
      return
    }
    if (block.tooLarge) {
      this.#answerTooLarge(streamId, block.endStream)
      return
    }
    let request: RequestFields
    try {
      request = readRequest(block.fields)
      checkRequestEnd(request, block.endStream)
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error
      this.#floods.spend('stream-error')
      this.#resetUnknown(streamId, ErrorCode.protocolError)
      this.#events.rejected('malformed', error.message)
      return
    }
    const stream = this.#create(streamId, notDelivered)
    stream.bodyLeft = request.contentLength
    stream.remoteEnded = block.endStream
    this.#arrived.push([stream, request])
  }

  /**
   * After the whole chunk: a stream that is opened and reset at once (CVE-2023-44487) begins no request.
   */
  #deliver(): void {
    if (this.#arrived.length === 0) return
    const arrived = this.#arrived
    this.#arrived = []
    for (const [stream, request] of arrived) {
      if (stream.isClosed) continue
      stream.events = this.#events.request(stream, request)
      if (stream.isClosed) stream.events.closed(stream.abort)
      else if (stream.remoteEnded) stream.events.end([])
    }
  }

  #takeLaterBlock(stream: Stream, { fields, tooLarge, endStream }: Block): void {
    if (stream.remoteEnded) {
      this.#lateFrame(stream.id, stream, endStream)
      return
    }
    this.#guard(stream, () => {
      if (tooLarge) throw new MalformedMessage('header section is too large')
      if (this.#isServer || stream.hasHead) this.#takeTrailers(stream, fields, endStream)
      else this.#takeResponse(stream, fields, endStream)
    })
  }

  /** A malformed message resets its stream. */
  #guard(stream: Stream, take: () => void): void {
    try {
      take()
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error
      this.#breakStream(stream, ErrorCode.protocolError, error.message)
    }
  }

  #takeTrailers(stream: Stream, fields: readonly Field[], endStream: boolean): void {
    if (!endStream) throw new MalformedMessage('trailers do not end the stream')
    const trailers = readTrailers(fields)
    checkTrailers(stream)
    this.#deliver()
    if (!stream.isClosed) this.#remoteEnded(stream, trailers)
  }

  #takeResponse(stream: Stream, fields: readonly Field[], endStream: boolean): void {
    const response = readResponse(fields)
    if (response.status < 200) {
      if (endStream || response.status === 101) {
        throw new MalformedMessage('malformed interim response')
      }
      this.#floods.spend('interim-response')
      stream.events.head(response)
      return
    }
    stream.hasHead = true
    beginResponseBody(stream, response, endStream)
    stream.events.head(response)
    if (endStream && !stream.isClosed) this.#remoteEnded(stream, [])
  }

  #takePriority(streamId: number, code: number | undefined): void {
    this.#floods.spend('priority')
    if (code === undefined) return
    const stream = this.#streams.get(streamId)
    if (stream === undefined) throw new ConnectionError(code, 'malformed PRIORITY')
    this.#breakStream(stream, code, 'malformed PRIORITY')
  }

  #takeReset(streamId: number, code: number): void {
    if (this.#isIdle(streamId)) throw protocolError('RST_STREAM for an idle stream')
    const stream = this.#streams.get(streamId)
    if (stream === undefined) {
      // It crossed our own RST_STREAM, which is not an attack.
      if (this.#closed.of(streamId) === 'reset') this.#closed.end(streamId)
      else if (!this.#lingering.ended(streamId)) this.#floods.spend('reset')
      return
    }
    if (!this.#isServer && code === ErrorCode.noError && hasWholeResponse(stream)) {
      // Node's server sometimes resets a stream after the last byte instead of sending END_STREAM.
      stream.events.end([])
      this.#close(stream, undefined)
      return
    }
    if (this.#now - stream.openedAt < shortLifeMs) this.#floods.spend('reset')
    this.#close(stream, {
      code,
      by: 'peer',
      reason: `reset by the peer (code ${code})`,
      isUnprocessed: code === ErrorCode.refusedStream,
      isMalformed: false,
    })
  }

  #takeSettings(settings: readonly (readonly [number, number])[]): void {
    if (this.#peer.hasArrived) this.#floods.spend('settings')
    this.#peer.take(settings)
    this.#queue.control(smallFrame(FrameType.settings, Flag.ack, 0, Buffer.alloc(0)))
    this.#events.settings()
  }

  #takeAcknowledgment(): void {
    if (this.#isAcknowledged) this.#floods.spend('settings')
    this.#isAcknowledged = true
  }

  #changeWindows(more: number): void {
    for (const stream of this.#streams.values()) {
      stream.sendWindow += more
      if (stream.sendWindow > maxWindow) throw flowControlError('stream window is too large')
      this.#queue.ready(stream)
    }
  }

  #takePing(payload: Buffer): void {
    this.#floods.spend('ping')
    this.#queue.control(smallFrame(FrameType.ping, Flag.ack, 0, payload))
  }

  #takePingAnswer(): void {
    const answered = this.#pings.shift()
    if (answered === undefined) this.#floods.spend('ping')
    else answered()
  }

  #takeGoaway(last: number, code: number): void {
    this.#floods.spend('goaway')
    this.#isLeaving = true
    this.#events.goaway(last, code)
    if (!this.#isServer) {
      for (const stream of [...this.#streams.values()]) {
        if (stream.id <= last) continue
        const reason = 'the peer is shutting down'
        const abort = { code, by: 'peer', reason, isUnprocessed: true, isMalformed: false } as const
        this.#close(stream, abort, 'reset')
      }
    }
    this.#endIfDone()
  }

  #takeWindowUpdate(streamId: number, more: number): void {
    this.#floods.spend('window-update')
    if (streamId === 0) {
      if (more === 0) throw protocolError('WINDOW_UPDATE of 0')
      if (!this.#queue.widen(more)) throw flowControlError('connection window is too large')
      return
    }
    const stream = this.#streams.get(streamId)
    if (stream === undefined) {
      if (this.#isIdle(streamId)) throw protocolError('WINDOW_UPDATE for an idle stream')
      return
    }
    if (more === 0) {
      this.#breakStream(stream, ErrorCode.protocolError, 'WINDOW_UPDATE of 0')
      return
    }
    stream.sendWindow += more
    if (stream.sendWindow > maxWindow) {
      this.#breakStream(stream, ErrorCode.flowControlError, 'stream window is too large')
    } else this.#queue.ready(stream)
  }

  #create(id: number, events: StreamEvents): Stream {
    const stream = new Stream(id, this, {
      sendWindow: this.#peer.initialWindow,
      receiveWindow: this.#windows.ofStream,
      openedAt: this.#now,
      events,
    })
    this.#streams.set(id, stream)
    if (this.#streams.size === 1) this.#events.idle(false)
    return stream
  }

  /** HEADERS or DATA for a stream that its sender has ended, or that is closed. */
  #lateFrame(streamId: number, stream: Stream | undefined, isLast: boolean): void {
    if (this.#isIdle(streamId)) throw protocolError('frame for an idle stream')
    if (stream !== undefined) {
      this.#breakStream(stream, ErrorCode.streamClosed, 'frame after the end of the stream')
      return
    }
    if (this.#lingering.has(streamId)) {
      if (isLast) this.#lingering.ended(streamId)
      return
    }
    const closing = this.#closed.of(streamId)
    if (closing === 'reset') {
      if (isLast) this.#closed.end(streamId)
      return
    }
    if (streamId > this.#refuseAfter) return
    // A client has skipped none: it has forgotten this one, since many were closed after it.
    if (closing === undefined && !this.#isServer) return
    if (closing === undefined) throw protocolError('frame for a stream that was skipped')
    throw new ConnectionError(ErrorCode.streamClosed, 'frame for a closed stream')
  }

  #isIdle(streamId: number): boolean {
    if (streamId === 0) return true
    if (this.#isServer) return streamId % 2 === 0 || streamId > this.#lastPeerId
    return streamId % 2 === 0 || streamId >= this.#nextId
  }

  /** The peer broke a rule that concerns one stream. */
  #breakStream(stream: Stream, code: number, reason: string): void {
    this.#floods.spend('stream-error')
    // Otherwise its own events report it.
    if (stream.events === notDelivered) this.#events.rejected('malformed', reason)
    const abort = { code, by: 'peer', reason, isUnprocessed: false, isMalformed: true } as const
    this.#sendReset(stream, code, abort)
  }

  /** Without an abort, both sides have what they need. */
  #sendReset(stream: Stream, code: number, abort?: StreamAbort): void {
    this.#queue.control(numberFrame(FrameType.rstStream, stream.id, code))
    this.#close(stream, abort, 'reset')
  }

  #resetUnknown(streamId: number, code: number): void {
    this.#queue.control(numberFrame(FrameType.rstStream, streamId, code))
    this.#closed.add(streamId, 'reset')
  }

  /** What 431 is in HTTP/1.1, since the connection stays in order. */
  #answerTooLarge(streamId: number, endStream: boolean): void {
    this.#floods.spend('stream-error')
    const block = this.#encoder.encode([':status', '431', 'content-length', '0'])
    this.#queue.control(headersFrames(block, streamId, true))
    if (endStream) this.#closed.add(streamId, 'ended')
    else this.#lingering.add(streamId)
    this.#events.rejected('too-large', 'header section is too large')
  }

  #remoteEnded(stream: Stream, trailers: readonly string[]): void {
    stream.remoteEnded = true
    stream.events.end(trailers)
    if (stream.localEnded) this.#close(stream, undefined)
    // The server needs no more of the request than it has read (RFC 9113 8.1).
    else if (!this.#isServer && !stream.isClosed) this.#sendReset(stream, ErrorCode.noError)
  }

  #localEnded(stream: Stream): void {
    stream.localEnded = true
    if (stream.remoteEnded) this.#close(stream, undefined)
    else if (this.#isServer) {
      // To the pipeline it is over: what still comes of the request is dropped.
      this.#lingering.add(stream.id)
      this.#close(stream, undefined)
    }
  }

  #close(
    stream: Stream,
    abort: StreamAbort | undefined,
    closing: 'reset' | 'ended' = 'ended',
  ): void {
    if (stream.isClosed) return
    stream.isClosed = true
    stream.abort = abort
    this.#streams.delete(stream.id)
    if (!this.#lingering.has(stream.id)) this.#closed.add(stream.id, closing)
    if (!this.#isEnded) this.#windows.closed(stream)
    this.#queue.drop(stream)
    if (abort === undefined) this.#floods.served()
    stream.events.closed(abort)
    if (this.#streams.size === 0 && !this.#isEnded) this.#events.idle(true)
    this.#endIfDone()
  }

  #fail(error: ConnectionError): void {
    if (this.#isEnded) return
    const { code, message: reason } = error
    this.#queue.control(goawayFrame(Math.min(this.#lastPeerId, this.#refuseAfter), code))
    const flood = error instanceof FloodError ? error.kind : undefined
    this.#end({ code, reason, by: 'us', flood }, true)
  }

  #endIfDone(): void {
    if (!this.#isLeaving || this.#isEnded) return
    if (this.#streams.size > 0 || this.#lingering.size > 0) return
    this.#end({ code: ErrorCode.noError, reason: 'shutdown', by: 'us', flood: undefined }, true)
  }

  #end(end: SessionEnd, isConnected: boolean): void {
    this.#isEnded = true
    this.#incoming.stop()
    this.#lingering.stop()
    const { code, reason } = end
    for (const stream of [...this.#streams.values()]) {
      this.#close(stream, {
        code,
        by: 'connection',
        reason,
        isUnprocessed: false,
        isMalformed: false,
      })
    }
    if (isConnected) this.#queue.flush()
    this.#queue.close()
    this.#events.ended(end)
  }
}

interface Block {
  readonly fields: readonly Field[]
  readonly tooLarge: boolean
  readonly endStream: boolean
}

const minRemembered = 256
/** Streams that lived longer than this do not come quickly: their number is limited. Viewers leave so. */
const shortLifeMs = 1000
/** An honest peer reads the answers to its frames sooner or later. */
const maxUnread = 1000

/** Until a request is delivered, its stream can only be closed. */
const notDelivered: StreamEvents = {
  head() {},
  data() {},
  end() {},
  drain() {},
  closed() {},
}

function flowControlError(message: string): ConnectionError {
  return new ConnectionError(ErrorCode.flowControlError, message)
}
