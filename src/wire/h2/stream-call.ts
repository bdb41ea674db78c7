import { ErrorCode } from '../../h2/error-codes.ts'
import type { ResponseFields } from '../../h2/message-fields.ts'
import type { Stream, StreamAbort, StreamEvents } from '../../h2/stream.ts'
import { withoutRest } from '../../h2/without-rest.ts'
import type { Call } from '../connection.ts'
import { callBegan, callEnded } from '../end-of-turn.ts'
import type { Pool } from '../pool.ts'
import type { ResponseHandler, WireRequest } from '../request-head.ts'
import type { Framing, ResponseHead } from '../response-head.ts'
import { maxComplete, maxInterimBytes } from '../response-reader.ts'
import type { TimeoutTicks } from '../timeout-ticks.ts'
import { type HowFar, WireError } from '../wire-error.ts'
import { StreamUpload } from './stream-upload.ts'

/** What a request needs of the connection that it is sent on. */
export interface StreamCarrier {
  readonly open: (call: StreamCall) => Stream
  /** A response has begun; `deliver` is to be called after all that has arrived with it was read. */
  readonly hold: (call: StreamCall) => void
  /** We have reset its stream. `isTimeout`: the connection may be dead. */
  readonly hasReset: (isTimeout: boolean) => void
  /** The server has refused a stream: it takes fewer at a time. */
  readonly refused: () => void
  /** The stream is closed, or was never opened. `isServed`: after a complete response. */
  readonly released: (call: StreamCall, isServed: boolean) => void
  /** Why the connection closed. */
  readonly failure: () => { readonly code: string; readonly message: string } | undefined
}

/**
 * A request on its stream.
 *
 *   waiting     it has no connection
 *   departing   it has one, but is not sent yet
 *   sent        the server has the request; the response and body timeouts end it
 *   ended       its response is complete, or it has failed, or was aborted
 */
export class StreamCall implements Call, StreamEvents {
  readonly request: WireRequest
  /** The header section of the request. */
  readonly fields: readonly string[]
  /** Whether it needs a connection that was opened after the last one broke. */
  readonly fresh: boolean
  connection: Call['connection']
  ended = false
  readonly #handler: ResponseHandler
  readonly #timeouts: TimeoutTicks
  #carrier: StreamCarrier | undefined
  #stream: Stream | undefined
  #upload: StreamUpload | undefined
  #reused = false
  #heard = false
  #interimBytes = 0
  #head: ResponseHead | undefined
  /** The beginning of a response that is not delivered yet. */
  #held: Buffer[] | undefined
  #heldBytes = 0
  #isPaused = false
  /** Delivered while paused, so the server may not send as much again. */
  #unread = 0
  #isUploading = false
  #isBlocked = false
  #ticksLeft = 0

  constructor(
    request: WireRequest,
    fields: readonly string[],
    parts: {
      readonly handler: ResponseHandler
      readonly fresh: boolean
      readonly timeouts: TimeoutTicks
    },
  ) {
    this.request = request
    this.fields = fields
    this.fresh = parts.fresh
    this.#handler = parts.handler
    this.#timeouts = parts.timeouts
  }

  /** It has a connection: `depart` follows. `reused`: one that had another request before, or was idle. */
  begin(carrier: StreamCarrier, reused: boolean): void {
    this.#carrier = carrier
    this.#reused = reused
    this.connection = this
    this.#ticksLeft = this.#timeouts.response
    callBegan()
    this.#handler.sent()
  }

  depart(): void {
    if (this.ended || this.#carrier === undefined) return
    const stream = this.#carrier.open(this)
    this.#stream = stream
    const { upload } = this.request
    if (upload === undefined) return
    this.#isUploading = true
    this.#upload = new StreamUpload(upload, stream, {
      isWanted: () => !this.ended,
      onData: () => this.#uploaded(),
      onBlocked: () => this.#block(),
      onSent: () => this.#uploadEnded(),
      onFailed: (error) => this.#breakOff(error, ErrorCode.cancel),
    })
    this.#upload.start()
  }

  /** Fails before it has a stream. */
  failUnsent(error: Error): void {
    const carrier = this.#carrier
    this.#fail(error)
    carrier?.released(this, false)
  }

  /** The server has chosen HTTP/1.1. It must not have a connection yet. */
  handOver({ send, resume, abort }: Pool): void {
    const call = send(this.request, this.#handler, this.fresh)
    this.connection = { resume: () => resume(call), abandon: () => abort(call) }
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#ticksLeft = this.#timeouts.body
    const unread = this.#unread
    this.#unread = 0
    this.#stream?.consumed(unread)
  }

  abandon(): void {
    const stream = this.#stream
    const carrier = this.#carrier
    this.#endCall()
    if (stream === undefined) carrier?.released(this, false)
    else this.#reset(stream, ErrorCode.cancel, 'aborted', false)
  }

  /** Whether it is sent, and no response has begun. */
  waitsForResponse(): boolean {
    return this.#stream !== undefined && this.#head === undefined
  }

  /** The clock of the pool: ends what has lasted too long. */
  tick(): void {
    if (!this.#waitsForServer() || --this.#ticksLeft > 0) return
    const [problem, message] =
      this.#head === undefined
        ? ['response-timeout', 'timed out waiting for the response']
        : ['body-timeout', 'timed out waiting for more of the response body']
    this.#breakOff(new WireError(problem, message, this.#howFar()), ErrorCode.cancel, true)
  }

  head(fields: ResponseFields): void {
    this.#heard = true
    this.#upload?.forget()
    if (fields.status < 200) {
      this.#countInterim(fields)
      return
    }
    this.#head = headOf(fields, this.request.method)
    this.#ticksLeft = this.#timeouts.body
    this.#held = []
    this.#carrier?.hold(this)
  }

  data(chunk: Buffer): void {
    if (this.ended) return
    this.#ticksLeft = this.#timeouts.body
    if (this.#held === undefined) {
      this.#guard(() => this.#deliverData(chunk))
      return
    }
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    if (this.#heldBytes > maxComplete) this.deliver()
  }

  end(trailers: readonly string[]): void {
    const head = this.#head
    if (this.ended || head === undefined) return
    if (this.#held === undefined || trailers.length > 0) this.deliver()
    if (this.ended) return
    const held = this.#held
    this.#guard(() => {
      if (held === undefined) this.#handler.end(trailers)
      else this.#handler.complete(...completed(head, Buffer.concat(held)))
      this.#endCall()
    })
  }

  drain(): void {
    if (!this.#isBlocked) return
    this.#isBlocked = false
    this.#restartTimeout()
    if (this.#isUploading) this.#upload?.resume()
  }

  closed(abort: StreamAbort | undefined): void {
    const carrier = this.#carrier
    if (abort?.code === ErrorCode.refusedStream) carrier?.refused()
    if (!this.ended) this.#fail(this.#errorOf(abort))
    carrier?.released(this, abort === undefined)
  }

  /** Delivers the beginning of the response, whose rest will come later. */
  deliver(): void {
    const held = this.#held
    const head = this.#head
    if (this.ended || held === undefined || head === undefined) return
    this.#held = undefined
    this.#guard(() => {
      this.#handler.head(head)
      for (const chunk of held) if (!this.ended) this.#deliverData(chunk)
    })
  }

  #deliverData(chunk: Buffer): void {
    // A client that does not read keeps it.
    if (!this.#handler.data(withoutRest(chunk), doNothing)) this.#isPaused = true
    // It may be paused since an earlier chunk.
    if (this.#isPaused) this.#unread += chunk.length
    else this.#stream?.consumed(chunk.length)
  }

  /** An exception in a handler fails the request, and no other on its connection. */
  #guard(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#breakOff(error as Error, ErrorCode.internalError)
    }
  }

  #countInterim({ headers }: ResponseFields): void {
    for (const text of headers) this.#interimBytes += text.length
    this.#interimBytes += 16
    if (this.#interimBytes <= maxInterimBytes) return
    const problem = 'more than 64 KiB of interim responses'
    this.#breakOff(new WireError('malformed', problem, this.#howFar()), ErrorCode.enhanceYourCalm)
  }

  #uploaded(): void {
    // Of a call in both directions: it is not idle.
    if (this.#head !== undefined) this.#ticksLeft = this.#timeouts.body
  }

  #block(): void {
    if (this.#isBlocked) return
    this.#isBlocked = true
    // A server that pauses while it reads a body gets as long as one that pauses while it sends.
    const { response, body } = this.#timeouts
    this.#ticksLeft = Math.max(response, body)
  }

  #uploadEnded(): void {
    this.#isUploading = false
    if (!this.#isBlocked) this.#restartTimeout()
  }

  /** A slow client is not the fault of the server. */
  #waitsForServer(): boolean {
    if (this.ended || this.#isPaused) return false
    return !this.#isUploading || this.#isBlocked || this.#head !== undefined
  }

  #restartTimeout(): void {
    const { response, body } = this.#timeouts
    this.#ticksLeft = this.#head === undefined ? response : body
  }

  #howFar(): HowFar {
    return { sent: this.#stream !== undefined, heard: this.#heard, reused: this.#reused }
  }

  #errorOf(abort: StreamAbort | undefined): WireError {
    const howFar = this.#howFar()
    // Not reached: a response that ends does so before its stream.
    if (abort === undefined) return new WireError('closed', 'stream ended early', howFar)
    const { reason } = abort
    if (abort.by === 'connection') {
      const { code, message } = this.#carrier?.failure() ?? { code: 'closed', message: reason }
      return new WireError(code, message, howFar)
    }
    if (abort.isMalformed) return new WireError('malformed', reason, howFar)
    if (abort.isUnprocessed && !this.#heard && this.#upload?.rewind() !== false) {
      // It says as little about the server as the close of an idle connection.
      const problem = abort.code === ErrorCode.refusedStream ? 'refused-stream' : 'closed'
      return new WireError(problem, reason, { sent: false, heard: false, reused: true })
    }
    const message = `stream ${reason.replace('the peer', 'the upstream')}`
    return new WireError('closed', message, { ...howFar, reused: abort.isUnprocessed })
  }

  /** Fails it and resets its stream. */
  #breakOff(error: Error, code: number, isTimeout = false): void {
    const stream = this.#stream
    this.#fail(error)
    if (stream !== undefined) this.#reset(stream, code, error.message, isTimeout)
  }

  #reset(stream: Stream, code: number, reason: string, isTimeout: boolean): void {
    if (stream.isClosed) return
    const carrier = this.#carrier
    stream.reset(code, reason)
    carrier?.hasReset(isTimeout)
  }

  #fail(error: Error): void {
    if (this.ended) return
    this.#endCall()
    this.#handler.failed(error)
  }

  #endCall(): void {
    this.ended = true
    if (this.connection === undefined) return
    this.connection = undefined
    this.#held = undefined
    this.#upload = undefined
    callEnded()
  }
}

function headOf({ status, headers, contentLength }: ResponseFields, method: string): ResponseHead {
  return {
    status,
    headers,
    framing: framingOf(status, method, contentLength),
    listed: undefined,
    persistent: true,
    keepAliveSeconds: undefined,
  }
}

function framingOf(status: number, method: string, contentLength: number | undefined): Framing {
  if (method === 'HEAD' || status === 204 || status === 304 || contentLength === 0) return 'none'
  return contentLength ?? 'chunked'
}

/** The length of a complete response is known, which saves HTTP/1.1 clients the chunks. */
function completed(head: ResponseHead, body: Buffer): [ResponseHead, string] {
  const text = body.toString('latin1')
  if (head.framing !== 'chunked') return [head, text]
  if (body.length === 0) return [{ ...head, framing: 'none' }, text]
  const headers = [...head.headers, 'content-length', String(body.length)]
  return [{ ...head, headers, framing: body.length }, text]
}

function doNothing(): void {}
