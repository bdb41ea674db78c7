import { ConnectionError, ErrorCode } from './error-codes.ts'
import { type Flood, FloodLimits } from './flood-limits.ts'
import { FrameReader } from './frame-reader.ts'
import {
  defaultWindow,
  Flag,
  type Frame,
  FrameType,
  goawayFrame,
  headersFrames,
  maxWindow,
  numberFrame,
  preface,
  Setting,
  settingsFrame,
  smallFrame,
} from './frames.ts'
import { Decoder, type Field, type HeaderLimits } from './hpack/decoder.ts'
import { Encoder } from './hpack/encoder.ts'
import {
  MalformedMessage,
  type RequestFields,
  readRequest,
  readResponse,
  readTrailers,
} from './message-fields.ts'
import { type Output, SendQueue } from './send-queue.ts'
import { Stream, type StreamAbort, type StreamEvents, type StreamOwner } from './stream.ts'

interface SessionSettings extends HeaderLimits {
  /** The most streams that the peer may have open. A client's peer may open none. */
  readonly maxStreams: number
  /** How much the peer may send ahead on a stream, and on all of them. */
  readonly streamWindow: number
  readonly connectionWindow: number
}

/** Why a session ended. */
interface SessionEnd {
  readonly code: number
  readonly reason: string
  readonly by: 'peer' | 'us'
  /** Set if the peer sent too much of this. */
  readonly flood: Flood | undefined
}

interface SessionEvents {
  /** Only of a server: a request has arrived. */
  request(stream: Stream, fields: RequestFields): StreamEvents
  /** Only of a server: the stream of a malformed request was reset, or one that is too large answered. */
  rejected(reason: 'malformed' | 'too-large' | 'refused', details: string): void
  /** The last stream ended, or the first began. */
  idle(isIdle: boolean): void
  /** The peer takes no streams after this one. */
  goaway(lastStreamId: number, code: number): void
  /** The peer's settings have arrived or changed. */
  settings(): void
  /** The last event: close the connection, after all that was sent has left. */
  ended(end: SessionEnd): void
}

/** The first octets of a header block that continues in another frame. */
interface OpenBlock {
  readonly streamId: number
  readonly endStream: boolean
  readonly parts: Buffer[]
  bytes: number
}

/** More frames than that for one header block are an attack (CVE-2024-27983). */
const maxContinuations = 64

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
 *   closed       both have, or one has sent RST_STREAM
 */
export class Session implements StreamOwner {
  readonly #isServer: boolean
  readonly #settings: SessionSettings
  readonly #events: SessionEvents
  readonly #reader = new FrameReader()
  readonly #decoder: Decoder
  readonly #encoder = new Encoder()
  readonly #floods = new FloodLimits()
  readonly #queue: SendQueue
  readonly #streams = new Map<number, Stream>()
  /** Streams that were closed lately. Frames for those that we have reset may still be on their way. */
  readonly #closed = new Map<number, 'reset' | 'ended'>()
  /** Requests that arrived in the chunk that is being read. */
  #arrived: [Stream, RequestFields][] = []
  #prefaceLeft: number
  #hasSettings = false
  #block: OpenBlock | undefined
  #lastPeerId = 0
  #nextId = 1
  #receiveWindow: number
  #unannounced = 0
  #peerWindow = defaultWindow
  #peerMaxStreams = Number.POSITIVE_INFINITY
  /** Streams of the peer after this one are ignored. */
  #refuseAfter = maxWindow
  #isLeaving = false
  #isEnded = false
  readonly #pings: (() => void)[] = []
  /** Since when a frame or header block is incomplete, in `performance.now()` time. */
  unfinishedSince: number | undefined

  constructor(
    role: 'server' | 'client',
    output: Output,
    settings: SessionSettings,
    events: SessionEvents,
  ) {
    this.#isServer = role === 'server'
    this.#settings = settings
    this.#events = events
    this.#decoder = new Decoder(settings)
    this.#queue = new SendQueue(output, {
      sentFrame: () => this.#floods.sent(),
      trailers: (fields) => this.#encoder.encode(fields),
      localEnded: (stream) => this.#localEnded(stream),
    })
    this.#prefaceLeft = this.#isServer ? preface.length : 0
    this.#receiveWindow = settings.connectionWindow
    this.#greet()
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
    return this.#peerMaxStreams
  }

  get hasPeerSettings(): boolean {
    return this.#hasSettings
  }

  /** The streams that are open, in the order in which they began. */
  streams(): Iterable<Stream> {
    return this.#streams.values()
  }

  receive(chunk: Buffer): void {
    if (this.#isEnded) return
    try {
      this.#reader.push(this.#prefaceLeft > 0 ? this.#readPreface(chunk) : chunk)
      for (let frame = this.#reader.next(); frame !== undefined; frame = this.#reader.next()) {
        this.#take(frame)
        if (this.#isEnded) return
      }
      this.#deliver()
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      this.#fail(error.code, error.message)
      return
    }
    const isUnfinished =
      this.#prefaceLeft > 0 || this.#block !== undefined || this.#reader.waiting > 0
    if (!isUnfinished) this.unfinishedSince = undefined
    else this.unfinishedSince ??= performance.now()
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
    return this.isOpen && this.#streams.size < this.#peerMaxStreams && this.#nextId < maxWindow
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
    if (!this.#isEnded) this.#fail(code, reason)
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
    const block = this.#encoder.encode(fields)
    this.#queue.message(headersFrames(block, stream.id, endStream))
    if (endStream) this.#localEnded(stream)
  }

  ready(stream: Stream): void {
    this.#queue.ready(stream)
  }

  reset(stream: Stream, code: number, reason: string): void {
    this.#queue.control(numberFrame(FrameType.rstStream, stream.id, code))
    this.#remember(stream.id, 'reset')
    this.#close(stream, { code, by: 'us', reason, isUnprocessed: false })
  }

  consumed(stream: Stream, bytes: number): void {
    const read = Math.min(bytes, stream.unread)
    stream.unread -= read
    this.#announce(read)
    if (stream.isClosed || stream.remoteEnded) return
    stream.unannounced += read
    if (stream.unannounced * 2 < this.#settings.streamWindow) return
    this.#queue.control(numberFrame(FrameType.windowUpdate, stream.id, stream.unannounced))
    stream.receiveWindow += stream.unannounced
    stream.unannounced = 0
  }

  #greet(): void {
    const { maxStreams, streamWindow, connectionWindow, headerBytes } = this.#settings
    if (!this.#isServer) this.#queue.control(preface)
    this.#queue.control(
      settingsFrame([
        ...(this.#isServer
          ? [[Setting.maxConcurrentStreams, maxStreams] as const]
          : [[Setting.enablePush, 0] as const]),
        [Setting.initialWindowSize, streamWindow],
        [Setting.maxHeaderListSize, headerBytes],
      ]),
    )
    if (connectionWindow > defaultWindow) {
      const more = connectionWindow - defaultWindow
      this.#queue.control(numberFrame(FrameType.windowUpdate, 0, more))
    }
  }

  #readPreface(chunk: Buffer): Buffer {
    const from = preface.length - this.#prefaceLeft
    const length = Math.min(this.#prefaceLeft, chunk.length)
    if (preface.compare(chunk, 0, length, from, from + length) !== 0) {
      throw new ConnectionError(ErrorCode.protocolError, 'invalid connection preface')
    }
    this.#prefaceLeft -= length
    return chunk.subarray(length)
  }

  #take(frame: Frame): void {
    const { type, streamId } = frame
    if (this.#block !== undefined && type !== FrameType.continuation) {
      throw protocolError('frame inside a header block')
    }
    if (!this.#hasSettings && (type !== FrameType.settings || (frame.flags & Flag.ack) !== 0)) {
      throw protocolError('the first frame must be SETTINGS')
    }
    switch (type) {
      case FrameType.data:
        this.#takeData(frame)
        break
      case FrameType.headers:
        this.#takeHeaders(frame)
        break
      case FrameType.priority:
        this.#takePriority(frame)
        break
      case FrameType.rstStream:
        this.#takeReset(frame)
        break
      case FrameType.settings:
        this.#takeSettings(frame)
        break
      case FrameType.pushPromise:
        throw protocolError('PUSH_PROMISE without permission')
      case FrameType.ping:
        this.#takePing(frame)
        break
      case FrameType.goaway:
        this.#takeGoaway(frame)
        break
      case FrameType.windowUpdate:
        this.#takeWindowUpdate(frame)
        break
      case FrameType.continuation:
        this.#takeContinuation(streamId, frame)
        break
      default:
        this.#spend('unknown-frame')
    }
  }

  #takeData(frame: Frame): void {
    const { streamId, flags, payload } = frame
    if (streamId === 0) throw protocolError('DATA without a stream')
    const data = (flags & Flag.padded) === 0 ? payload : withoutPadding(payload, 0)
    const isLast = (flags & Flag.endStream) !== 0
    if (payload.length > this.#receiveWindow) {
      throw new ConnectionError(ErrorCode.flowControlError, 'connection window exceeded')
    }
    this.#receiveWindow -= payload.length
    if (data.length === 0 && !isLast) this.#spend('empty-data')
    const stream = this.#streams.get(streamId)
    if (stream === undefined || stream.remoteEnded) {
      this.#announce(payload.length)
      this.#lateFrame(streamId, stream)
      return
    }
    if (payload.length > stream.receiveWindow) {
      this.#announce(payload.length)
      this.#breakStream(stream, ErrorCode.flowControlError, 'stream window exceeded')
      return
    }
    stream.receiveWindow -= payload.length
    stream.unread += payload.length
    // Padding is read by nobody else.
    if (data.length < payload.length) this.consumed(stream, payload.length - data.length)
    if (!this.#isServer && !stream.hasHead) {
      this.#breakStream(stream, ErrorCode.protocolError, 'DATA before the response')
      return
    }
    if (!this.#fits(stream, data.length, isLast)) return
    if (data.length > 0) {
      this.#deliver()
      stream.events.data(data)
    }
    if (isLast && !stream.isClosed) this.#remoteEnded(stream, [])
  }

  /** A body that differs from its Content-Length must never look complete. */
  #fits(stream: Stream, bytes: number, isLast: boolean): boolean {
    if (stream.isBodyless && bytes > 0) {
      this.#breakStream(stream, ErrorCode.protocolError, 'body where none is allowed')
      return false
    }
    if (stream.bodyLeft === undefined) return true
    stream.bodyLeft -= bytes
    if (stream.bodyLeft >= 0 && (!isLast || stream.bodyLeft === 0)) return true
    this.#breakStream(stream, ErrorCode.protocolError, 'body length differs from Content-Length')
    return false
  }

  #takeHeaders(frame: Frame): void {
    const { streamId, flags, payload } = frame
    if (streamId === 0) throw protocolError('HEADERS without a stream')
    let from = (flags & Flag.padded) === 0 ? 0 : 1
    const end = (flags & Flag.padded) === 0 ? payload.length : withoutPaddingEnd(payload)
    if ((flags & Flag.priority) !== 0) {
      if (end - from < 5) throw frameSizeError('HEADERS is too short')
      if ((payload.readUInt32BE(from) & maxWindow) === streamId) {
        throw protocolError('stream depends on itself')
      }
      from += 5
    }
    const endStream = (flags & Flag.endStream) !== 0
    const part = payload.subarray(from, end)
    if ((flags & Flag.endHeaders) !== 0) {
      this.#takeBlock(streamId, endStream, part)
      return
    }
    this.#block = { streamId, endStream, parts: [part], bytes: part.length }
  }

  #takeContinuation(streamId: number, { flags, payload }: Frame): void {
    const block = this.#block
    if (block === undefined || block.streamId !== streamId) {
      throw protocolError('CONTINUATION without HEADERS')
    }
    block.parts.push(payload)
    block.bytes += payload.length
    // A block that was compressed at all is smaller than its fields.
    if (block.parts.length > maxContinuations || block.bytes > this.#settings.headerBytes * 2) {
      this.#flooded('continuation')
      return
    }
    if ((flags & Flag.endHeaders) === 0) return
    this.#block = undefined
    this.#takeBlock(streamId, block.endStream, Buffer.concat(block.parts))
  }

  /** Every block is decoded, whatever becomes of its stream: the next ones refer to it. */
  #takeBlock(streamId: number, endStream: boolean, bytes: Buffer): void {
    const { fields, tooLarge } = this.#decoder.decode(bytes)
    const stream = this.#streams.get(streamId)
    if (stream !== undefined) this.#takeLaterBlock(stream, { fields, tooLarge, endStream })
    else if (this.#isServer && streamId > this.#lastPeerId) {
      this.#takeRequest(streamId, { fields, tooLarge, endStream })
    } else this.#lateFrame(streamId, undefined)
  }

  #takeRequest(streamId: number, block: Block): void {
    if (streamId % 2 === 0) throw protocolError('a client opened an even stream')
    this.#lastPeerId = streamId
    if (streamId > this.#refuseAfter) return
    if (this.#streams.size >= this.#settings.maxStreams) {
      this.#spend('stream-error')
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
      if (block.endStream && (request.contentLength ?? 0) > 0) {
        throw new MalformedMessage('body length differs from Content-Length')
      }
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error
      this.#spend('stream-error')
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
      if (stream.remoteEnded && !stream.isClosed) stream.events.end([])
    }
  }

  #takeLaterBlock(stream: Stream, { fields, tooLarge, endStream }: Block): void {
    if (stream.remoteEnded) {
      this.#lateFrame(stream.id, stream)
      return
    }
    try {
      if (tooLarge) throw new MalformedMessage('header section is too large')
      if (this.#isServer || stream.hasHead) this.#takeTrailers(stream, fields, endStream)
      else this.#takeResponse(stream, fields, endStream)
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error
      this.#breakStream(stream, ErrorCode.protocolError, error.message)
    }
  }

  #takeTrailers(stream: Stream, fields: readonly Field[], endStream: boolean): void {
    if (!endStream) throw new MalformedMessage('trailers do not end the stream')
    const trailers = readTrailers(fields)
    if (stream.bodyLeft !== undefined && stream.bodyLeft > 0) {
      throw new MalformedMessage('body length differs from Content-Length')
    }
    this.#deliver()
    if (!stream.isClosed) this.#remoteEnded(stream, trailers)
  }

  #takeResponse(stream: Stream, fields: readonly Field[], endStream: boolean): void {
    const response = readResponse(fields)
    const { status, contentLength } = response
    if (status < 200) {
      if (endStream || status === 101) throw new MalformedMessage('malformed interim response')
      stream.events.head(response)
      return
    }
    stream.hasHead = true
    if (status === 204 || status === 304) stream.isBodyless = true
    if (!stream.isBodyless) stream.bodyLeft = contentLength
    if (endStream && (stream.bodyLeft ?? 0) > 0) {
      throw new MalformedMessage('body length differs from Content-Length')
    }
    stream.events.head(response)
    if (endStream && !stream.isClosed) this.#remoteEnded(stream, [])
  }

  #takePriority({ streamId, payload }: Frame): void {
    if (streamId === 0) throw protocolError('PRIORITY without a stream')
    this.#spend('priority')
    const isSelf = payload.length === 5 && (payload.readUInt32BE(0) & maxWindow) === streamId
    if (payload.length === 5 && !isSelf) return
    this.#breakOrThrow(
      streamId,
      isSelf ? ErrorCode.protocolError : ErrorCode.frameSizeError,
      'malformed PRIORITY',
    )
  }

  #takeReset({ streamId, payload }: Frame): void {
    if (payload.length !== 4) throw frameSizeError('malformed RST_STREAM')
    if (this.#isIdle(streamId)) throw protocolError('RST_STREAM for an idle stream')
    const code = payload.readUInt32BE(0)
    const stream = this.#streams.get(streamId)
    // One that is on its way while we reset the stream ourselves is no attack, and costs nothing.
    if (stream === undefined) {
      if (this.#closed.get(streamId) !== 'reset') this.#spend('reset')
      return
    }
    if (this.#isServer) this.#spend('reset')
    if (this.#isEnded) return
    this.#close(stream, {
      code,
      by: 'peer',
      reason: `reset by the peer (code ${code})`,
      isUnprocessed: code === ErrorCode.refusedStream,
    })
  }

  #takeSettings({ streamId, flags, payload }: Frame): void {
    if (streamId !== 0) throw protocolError('SETTINGS on a stream')
    if ((flags & Flag.ack) !== 0) {
      if (payload.length > 0) throw frameSizeError('malformed SETTINGS acknowledgment')
      return
    }
    if (payload.length % 6 !== 0) throw frameSizeError('malformed SETTINGS')
    if (this.#hasSettings) this.#spend('settings')
    for (let at = 0; at < payload.length; at += 6) {
      this.#takeSetting(payload.readUInt16BE(at), payload.readUInt32BE(at + 2))
    }
    this.#hasSettings = true
    this.#queue.control(smallFrame(FrameType.settings, Flag.ack, 0, Buffer.alloc(0)))
    this.#events.settings()
  }

  #takeSetting(setting: number, value: number): void {
    switch (setting) {
      case Setting.headerTableSize:
        this.#encoder.limit(value)
        return
      case Setting.enablePush:
        if (value > 1 || (!this.#isServer && value === 1))
          throw protocolError('invalid ENABLE_PUSH')
        return
      case Setting.maxConcurrentStreams:
        this.#peerMaxStreams = value
        return
      case Setting.initialWindowSize:
        this.#changeWindow(value)
        return
      case Setting.maxFrameSize:
        if (value < 16_384 || value > 16_777_215) throw protocolError('invalid MAX_FRAME_SIZE')
        return
      default:
        return
    }
  }

  #changeWindow(value: number): void {
    if (value > maxWindow) throw flowControlError('invalid INITIAL_WINDOW_SIZE')
    const more = value - this.#peerWindow
    this.#peerWindow = value
    for (const stream of this.#streams.values()) {
      stream.sendWindow += more
      if (stream.sendWindow > maxWindow) throw flowControlError('stream window is too large')
      this.#queue.ready(stream)
    }
  }

  #takePing({ streamId, flags, payload }: Frame): void {
    if (streamId !== 0) throw protocolError('PING on a stream')
    if (payload.length !== 8) throw frameSizeError('malformed PING')
    if ((flags & Flag.ack) !== 0) {
      this.#pings.shift()?.()
      return
    }
    this.#spend('ping')
    this.#queue.control(smallFrame(FrameType.ping, Flag.ack, 0, payload))
  }

  #takeGoaway({ streamId, payload }: Frame): void {
    if (streamId !== 0) throw protocolError('GOAWAY on a stream')
    if (payload.length < 8) throw frameSizeError('malformed GOAWAY')
    const last = payload.readUInt32BE(0) & maxWindow
    const code = payload.readUInt32BE(4)
    this.#isLeaving = true
    if (!this.#isServer) {
      for (const stream of [...this.#streams.values()]) {
        if (stream.id <= last) continue
        const reason = 'the peer is shutting down'
        this.#close(stream, { code, by: 'peer', reason, isUnprocessed: true })
      }
    }
    this.#events.goaway(last, code)
    this.#endIfDone()
  }

  #takeWindowUpdate({ streamId, payload }: Frame): void {
    if (payload.length !== 4) throw frameSizeError('malformed WINDOW_UPDATE')
    const more = payload.readUInt32BE(0) & maxWindow
    this.#spend('window-update')
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
      sendWindow: this.#peerWindow,
      receiveWindow: this.#settings.streamWindow,
      events,
    })
    this.#streams.set(id, stream)
    if (this.#streams.size === 1) this.#events.idle(false)
    return stream
  }

  /** A frame for a stream that its sender has ended, or that is closed. */
  #lateFrame(streamId: number, stream: Stream | undefined): void {
    if (this.#isIdle(streamId)) throw protocolError('frame for an idle stream')
    if (stream !== undefined) {
      this.#breakStream(stream, ErrorCode.streamClosed, 'frame after the end of the stream')
      return
    }
    const closed = this.#closed.get(streamId)
    if (closed === 'reset' || streamId > this.#refuseAfter) return
    if (closed === undefined) throw protocolError('frame for a stream that was skipped')
    throw new ConnectionError(ErrorCode.streamClosed, 'frame for a closed stream')
  }

  #isIdle(streamId: number): boolean {
    if (streamId === 0) return true
    if (this.#isServer) return streamId % 2 === 0 || streamId > this.#lastPeerId
    return streamId % 2 === 0 || streamId >= this.#nextId
  }

  #breakOrThrow(streamId: number, code: number, reason: string): void {
    const stream = this.#streams.get(streamId)
    if (stream === undefined) throw new ConnectionError(code, reason)
    this.#breakStream(stream, code, reason)
  }

  /** The peer broke a rule that concerns one stream. */
  #breakStream(stream: Stream, code: number, reason: string): void {
    if (this.#isServer) this.#spend('stream-error')
    if (this.#isEnded) return
    this.#queue.control(numberFrame(FrameType.rstStream, stream.id, code))
    this.#remember(stream.id, 'reset')
    this.#close(stream, { code, by: 'peer', reason, isUnprocessed: false })
  }

  #resetUnknown(streamId: number, code: number): void {
    this.#queue.control(numberFrame(FrameType.rstStream, streamId, code))
    this.#remember(streamId, 'reset')
  }

  /** What 431 is in HTTP/1.1, since the connection stays in order. */
  #answerTooLarge(streamId: number, endStream: boolean): void {
    this.#spend('stream-error')
    const block = this.#encoder.encode([':status', '431', 'content-length', '0'])
    this.#queue.message(headersFrames(block, streamId, true))
    if (endStream) this.#remember(streamId, 'ended')
    else this.#resetUnknown(streamId, ErrorCode.noError)
    this.#events.rejected('too-large', 'header section is too large')
  }

  #remoteEnded(stream: Stream, trailers: readonly string[]): void {
    stream.remoteEnded = true
    stream.events.end(trailers)
    if (stream.localEnded) this.#close(stream, undefined)
    // The server needs no more of the request than it has read (RFC 9113 8.1).
    else if (!this.#isServer && !stream.isClosed) {
      this.#queue.control(numberFrame(FrameType.rstStream, stream.id, ErrorCode.noError))
      this.#remember(stream.id, 'reset')
      this.#close(stream, undefined)
    }
  }

  #localEnded(stream: Stream): void {
    stream.localEnded = true
    if (stream.remoteEnded) this.#close(stream, undefined)
    // The response is complete, so the rest of the request is not needed (RFC 9113 8.1).
    else if (this.#isServer) {
      this.#queue.control(numberFrame(FrameType.rstStream, stream.id, ErrorCode.noError))
      this.#remember(stream.id, 'reset')
      this.#close(stream, undefined)
    }
  }

  #close(stream: Stream, abort: StreamAbort | undefined): void {
    if (stream.isClosed) return
    stream.isClosed = true
    this.#streams.delete(stream.id)
    if (!this.#closed.has(stream.id)) this.#remember(stream.id, 'ended')
    this.#announce(stream.unread)
    stream.unread = 0
    this.#queue.drop(stream)
    if (abort === undefined) this.#floods.served()
    stream.events.closed(abort)
    if (this.#streams.size === 0 && !this.#isEnded) this.#events.idle(true)
    this.#endIfDone()
  }

  /** Bytes that were read, or dropped: the peer may send as many again on the connection. */
  #announce(bytes: number): void {
    this.#unannounced += bytes
    if (this.#unannounced * 2 < this.#settings.connectionWindow || this.#isEnded) return
    this.#queue.control(numberFrame(FrameType.windowUpdate, 0, this.#unannounced))
    this.#receiveWindow += this.#unannounced
    this.#unannounced = 0
  }

  /** The oldest ones are forgotten first: frames for them arrived long ago. */
  #remember(streamId: number, how: 'reset' | 'ended'): void {
    this.#closed.set(streamId, how)
    if (this.#closed.size <= maxRemembered) return
    for (const oldest of this.#closed.keys()) {
      this.#closed.delete(oldest)
      return
    }
  }

  #spend(kind: Flood): void {
    if (this.#isServer && !this.#floods.allows(kind)) this.#flooded(kind)
  }

  #flooded(kind: Flood): void {
    this.#fail(ErrorCode.enhanceYourCalm, `too many frames: ${kind}`, kind)
  }

  #fail(code: number, reason: string, flood?: Flood): void {
    if (this.#isEnded) return
    this.#queue.control(goawayFrame(this.#lastPeerId, code))
    this.#end({ code, reason, by: 'us', flood }, true)
  }

  #endIfDone(): void {
    if (!this.#isLeaving || this.#isEnded || this.#streams.size > 0) return
    this.#end({ code: ErrorCode.noError, reason: 'shutdown', by: 'us', flood: undefined }, true)
  }

  #end(end: SessionEnd, isConnected: boolean): void {
    this.#isEnded = true
    const { code, reason } = end
    for (const stream of [...this.#streams.values()]) {
      this.#close(stream, { code, by: 'connection', reason, isUnprocessed: false })
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

const maxRemembered = 1000

/** Until a request is delivered, its stream can only be closed. */
const notDelivered: StreamEvents = {
  head() {},
  data() {},
  end() {},
  drain() {},
  closed() {},
}

function withoutPadding(payload: Buffer, from: number): Buffer {
  return payload.subarray(from + 1, withoutPaddingEnd(payload))
}

/** Where the padding of a frame begins. */
function withoutPaddingEnd(payload: Buffer): number {
  const padding = payload[0]
  if (padding === undefined) throw frameSizeError('padded frame is too short')
  if (padding >= payload.length) throw protocolError('padding is longer than its frame')
  return payload.length - padding
}

function protocolError(message: string): ConnectionError {
  return new ConnectionError(ErrorCode.protocolError, message)
}

function frameSizeError(message: string): ConnectionError {
  return new ConnectionError(ErrorCode.frameSizeError, message)
}

function flowControlError(message: string): ConnectionError {
  return new ConnectionError(ErrorCode.flowControlError, message)
}
