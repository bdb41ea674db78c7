import { nextTick } from 'node:process'
import {
  defaultWindow,
  Flag,
  FrameType,
  frameHeaderBytes,
  headersFrames,
  maxFrameBytes,
  maxWindow,
  writeFrameHeader,
} from './frames.ts'
import type { Done, Stream } from './stream.ts'

/** Where the bytes go: a socket. */
export interface Output {
  /** Returns `false` if it wants no more until it has drained. */
  write(bytes: Buffer): boolean
}

interface SendEvents {
  /** A frame of a message was sent. */
  readonly sentFrame: (bytes: number) => void
  /** Encodes fields, in the order in which they are sent. */
  readonly encode: (fields: readonly string[]) => Buffer
  /** The last frame of the stream was sent. */
  readonly localEnded: (stream: Stream) => void
}

/** So much is collected before it is written in the middle of a turn. */
const maxBatch = 65_536
const noData = Buffer.alloc(0)

/**
 * What a session sends. Frames of one turn leave in one write. Streams with data take turns, one frame
 * each, as far as the windows of the peer and the socket's buffer allow.
 */
export class SendQueue {
  readonly #output: Output
  readonly #events: SendEvents
  readonly #isServer: boolean
  #frames: Buffer[] = []
  #bytes = 0
  /** To be called when the frames are written. */
  #done: Done[] = []
  #window = defaultWindow
  /** Streams with something to send that their own window allows. */
  #ready: Stream[] = []
  /** Streams that only the window of the connection stops. */
  #starved: Stream[] = []
  #isBlocked = false
  #unread = 0
  #isScheduled = false
  #isClosed = false
  readonly #atEndOfTurn = (): void => {
    this.#isScheduled = false
    this.flush()
  }

  constructor(role: 'server' | 'client', output: Output, events: SendEvents) {
    this.#output = output
    this.#events = events
    this.#isServer = role === 'server'
  }

  /** How many frames beside messages wait for a peer that does not read. */
  get unread(): number {
    return this.#unread
  }

  /** A frame that belongs to no message, or must not wait. */
  control(frame: Buffer): void {
    if (this.#isClosed) return
    if (this.#isBlocked) this.#unread++
    this.#push(frame)
    this.#schedule()
  }

  /**
   * A response waits for a client that does not read, so that its stream counts until it has left. A
   * request does not: requests must leave in the order of their streams.
   */
  head(stream: Stream, fields: readonly string[], endStream: boolean): void {
    if (this.#isClosed) return
    if (endStream) stream.ending = true
    if (stream.queue.length === 0 && !(this.#isBlocked && this.#isServer)) {
      this.#sendHead(stream, fields, endStream)
      this.#schedule()
      return
    }
    stream.queue.push({ kind: 'head', fields, endStream })
    this.ready(stream)
  }

  /** The peer takes more on the connection. Returns `false` if that is more than a window may be. */
  widen(more: number): boolean {
    this.#window += more
    if (this.#window > maxWindow) return false
    if (this.#starved.length > 0) {
      this.#ready.push(...this.#starved)
      this.#starved = []
      this.#schedule()
    }
    return true
  }

  ready(stream: Stream): void {
    if (stream.isReady || stream.isClosed || !canSend(stream)) return
    stream.isReady = true
    this.#ready.push(stream)
    this.#schedule()
  }

  /** It is closed: nothing of it is sent any more. */
  drop(stream: Stream): void {
    stream.queuedBytes = 0
    if (stream.isReady) {
      this.#ready = this.#ready.filter((one) => one !== stream)
      this.#starved = this.#starved.filter((one) => one !== stream)
      stream.isReady = false
    }
    if (stream.queue.length === 0) return
    const closed = new Error('stream is closed')
    for (const waiting of stream.queue.splice(0)) {
      if (waiting.kind === 'data') waiting.done?.(closed)
    }
  }

  /** The socket has drained. */
  pump(): void {
    this.#isBlocked = false
    this.#unread = 0
    this.flush()
  }

  /** Nothing is sent any more. */
  close(): void {
    this.#isClosed = true
    this.#frames = []
    this.#ready = []
    this.#starved = []
    const closed = new Error('connection is closed')
    for (const done of this.#done.splice(0)) done(closed)
  }

  flush(): void {
    if (this.#isClosed) return
    this.#collect()
    this.#write()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    nextTick(this.#atEndOfTurn)
  }

  #collect(): void {
    while (!this.#isBlocked) {
      const stream = this.#ready.shift()
      if (stream === undefined) return
      if (this.#window === 0 && stream.queue[0]?.kind === 'data') {
        this.#starved.push(stream)
        continue
      }
      stream.isReady = false
      if (stream.isClosed || !canSend(stream)) continue
      this.#sendOne(stream)
      this.ready(stream)
      if (this.#bytes >= maxBatch) this.#write()
    }
  }

  /** One frame of data, or the head or the end. */
  #sendOne(stream: Stream): void {
    const first = stream.queue[0]
    if (first === undefined) {
      this.#sendEnd(stream)
      return
    }
    if (first.kind === 'head') {
      stream.queue.shift()
      this.#sendHead(stream, first.fields, first.endStream)
      return
    }
    const { chunk, done } = first
    const length = Math.min(chunk.length, maxFrameBytes, stream.sendWindow, this.#window)
    const isWhole = length === chunk.length
    if (isWhole) stream.queue.shift()
    else first.chunk = chunk.subarray(length)
    stream.sendWindow -= length
    this.#window -= length
    stream.queuedBytes -= length
    const isLast = stream.queue.length === 0 && stream.ending && stream.trailers === undefined
    this.#pushData(stream.id, isWhole ? chunk : chunk.subarray(0, length), isLast)
    if (isWhole && done !== undefined) this.#done.push(done)
    if (isLast) this.#events.localEnded(stream)
    else if (stream.queuedBytes === 0) this.#drained(stream)
  }

  #sendHead(stream: Stream, fields: readonly string[], endStream: boolean): void {
    const frames = headersFrames(this.#events.encode(fields), stream.id, endStream)
    this.#push(frames)
    this.#events.sentFrame(frames.length)
    if (endStream) this.#events.localEnded(stream)
  }

  #sendEnd(stream: Stream): void {
    const { id, trailers } = stream
    if (trailers !== undefined) {
      this.#sendHead(stream, trailers, true)
      return
    }
    this.#pushData(id, noData, true)
    this.#events.localEnded(stream)
  }

  #drained(stream: Stream): void {
    if (!stream.needsDrain || stream.ending) return
    stream.needsDrain = false
    this.#done.push(() => {
      if (!stream.isClosed) stream.events.drain()
    })
  }

  #pushData(id: number, data: Buffer, isLast: boolean): void {
    const header = Buffer.allocUnsafe(frameHeaderBytes)
    const flags = isLast ? Flag.endStream : 0
    writeFrameHeader(header, 0, { length: data.length, type: FrameType.data, flags, id })
    this.#push(header)
    if (data.length > 0) this.#push(data)
    this.#events.sentFrame(data.length)
  }

  #push(bytes: Buffer): void {
    this.#frames.push(bytes)
    this.#bytes += bytes.length
  }

  #write(): void {
    if (this.#frames.length === 0) return
    const frames = this.#frames
    // A copy: the chunks belong to their writers again.
    const bytes = frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames, this.#bytes)
    this.#frames = []
    this.#bytes = 0
    const done = this.#done
    this.#done = []
    if (!this.#output.write(bytes)) this.#isBlocked = true
    for (const one of done) one()
  }
}

/** Whether its own window lets it send something. */
function canSend({ queue, sendWindow, ending, localEnded }: Stream): boolean {
  if (localEnded) return false
  const first = queue[0]
  if (first === undefined) return ending
  return first.kind === 'head' || sendWindow > 0
}
