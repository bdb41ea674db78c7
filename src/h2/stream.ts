import type { ResponseFields } from './message-fields.ts'

/** Sees what the peer sends on a stream. */
export interface StreamEvents {
  /** Only of a client: the head of the response, after those of interim responses. */
  head(fields: ResponseFields): void
  /** The window opens again only when `consumed` is called. */
  data(chunk: Buffer): void
  /** The peer has sent everything. */
  end(trailers: readonly string[]): void
  /** All that was written has left: more may be written. */
  drain(): void
  /** The last event. Unset: both sides were done. */
  closed(abort: StreamAbort | undefined): void
}

/** Why a stream ended early. */
export interface StreamAbort {
  readonly code: number
  readonly by: 'peer' | 'us' | 'connection'
  readonly reason: string
  /** The peer has certainly not processed it, so it may be sent again (RFC 9113 8.7). */
  readonly isUnprocessed: boolean
  /** The peer broke a rule on this stream, so we have reset it. */
  readonly isMalformed: boolean
}

/** What a stream needs of its session. */
export interface StreamOwner {
  sendHeaders(stream: Stream, fields: readonly string[], endStream: boolean): void
  /** It has data, or its end, to send. */
  ready(stream: Stream): void
  reset(stream: Stream, code: number, reason: string): void
  consumed(stream: Stream, bytes: number): void
}

/** A part of a message that waits to be sent. */
type Waiting = WaitingHead | WaitingData

interface WaitingHead {
  readonly kind: 'head'
  readonly fields: readonly string[]
  readonly endStream: boolean
}

interface WaitingData {
  readonly kind: 'data'
  chunk: Buffer
  readonly done: Done | undefined
}

export type Done = (error?: Error | null) => void

/** How much may wait to be sent before `write` returns `false`. */
const highWaterBytes = 65_536

/** One request and its response on a connection. */
export class Stream {
  readonly id: number
  readonly #owner: StreamOwner
  events: StreamEvents
  /** How much we may send. Negative after the peer has reduced its initial window. */
  sendWindow: number
  /** In `performance.now()` time; only of a server. */
  readonly openedAt: number
  /** How much the peer may send. */
  receiveWindow: number
  /** Received and read, but the window was not opened for it yet. */
  unannounced = 0
  /** Received, but not read yet. */
  unread = 0
  /** How much of the announced body is still to come. */
  bodyLeft: number | undefined
  /** Whether the message has no body, whatever its Content-Length says: a response to HEAD, 204, 304. */
  isBodyless = false
  /** Only of a client: whether the final response has begun. */
  hasHead = false
  remoteEnded = false
  localEnded = false
  isClosed = false
  /** Why it was closed early, if it was. */
  abort: StreamAbort | undefined
  /** Whether the session has it among those that can send. */
  isReady = false
  ending = false
  trailers: readonly string[] | undefined
  readonly queue: Waiting[] = []
  /** Of the data in the queue. */
  queuedBytes = 0
  needsDrain = false

  constructor(
    id: number,
    owner: StreamOwner,
    start: {
      readonly sendWindow: number
      readonly receiveWindow: number
      readonly openedAt: number
      readonly events: StreamEvents
    },
  ) {
    this.id = id
    this.#owner = owner
    this.sendWindow = start.sendWindow
    this.receiveWindow = start.receiveWindow
    this.openedAt = start.openedAt
    this.events = start.events
  }

  /** Name, value, name, value … with the pseudo-headers first. */
  sendHeaders(fields: readonly string[], endStream: boolean): void {
    if (this.isClosed || this.localEnded || this.ending) return
    this.#owner.sendHeaders(this, fields, endStream)
  }

  /** Returns `false` to stop until `drain`. `done` is called when the chunk is no longer needed. */
  write(chunk: Buffer, done?: Done): boolean {
    if (this.isClosed || this.localEnded || this.ending) {
      done?.(new Error('stream is closed'))
      return true
    }
    if (chunk.length === 0) {
      done?.()
      return true
    }
    this.queue.push({ kind: 'data', chunk, done })
    this.queuedBytes += chunk.length
    this.#owner.ready(this)
    if (this.queuedBytes < highWaterBytes) return true
    this.needsDrain = true
    return false
  }

  /** Ends our side, with trailers if there are any. */
  end(trailers?: readonly string[]): void {
    if (this.isClosed || this.localEnded || this.ending) return
    this.ending = true
    this.trailers = trailers?.length === 0 ? undefined : trailers
    this.#owner.ready(this)
  }

  reset(code: number, reason: string): void {
    if (!this.isClosed) this.#owner.reset(this, code, reason)
  }

  /** So many of the received bytes were read: the peer may send as many again. */
  consumed(bytes: number): void {
    if (bytes > 0) this.#owner.consumed(this, bytes)
  }
}
