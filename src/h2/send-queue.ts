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
import type { Stream } from './stream.ts'

/** Where the bytes go: a socket. */
export interface Output {
  /** Returns `false` if it wants no more until it has drained. */
  write(bytes: Buffer): boolean
}

interface SendEvents {
  /** A frame of a message was sent. */
  readonly sentFrame: () => void
  /** Encodes trailers, in the order in which they are sent. */
  readonly trailers: (fields: readonly string[]) => Buffer
  /** Its last frame was sent. */
  readonly localEnded: (stream: Stream) => void
}

/** So much is collected before it is written in the middle of a turn. */
const maxBatch = 65_536

/**
 * What a session sends. Frames of one turn leave in one write. Streams with data take turns, one frame
 * each, as far as the windows of the peer and the socket's buffer allow.
 */
export class SendQueue {
  readonly #output: Output
  readonly #events: SendEvents
  #frames: Buffer[] = []
  #bytes = 0
  /** To be called when the frames are written. */
  #done: (() => void)[] = []
  #window = defaultWindow
  /** Those with something to send that their own window allows. */
  readonly #ready: Stream[] = []
  #isBlocked = false
  #isScheduled = false
  #isClosed = false

  constructor(output: Output, events: SendEvents) {
    this.#output = output
    this.#events = events
  }

  /** A frame that no window limits. */
  control(frame: Buffer): void {
    if (this.#isClosed) return
    this.#frames.push(frame)
    this.#bytes += frame.length
    this.#schedule()
  }

  /** Frames of a message that no window limits. */
  message(frames: Buffer): void {
    this.#events.sentFrame()
    this.control(frames)
  }

  /** The peer takes more on the connection. Returns `false` if that is more than a window may be. */
  widen(more: number): boolean {
    this.#window += more
    return this.#window <= maxWindow
  }

  ready(stream: Stream): void {
    if (stream.isReady || stream.isClosed || !canSend(stream)) return
    stream.isReady = true
    this.#ready.push(stream)
    this.#schedule()
  }

  /** It is closed: nothing of it is sent any more. */
  drop(stream: Stream): void {
    const { queue } = stream
    stream.queuedBytes = 0
    if (queue.length === 0) return
    const closed = new Error('stream is closed')
    for (const { done } of queue.splice(0)) done?.(closed)
  }

  /** The socket has drained. */
  pump(): void {
    this.#isBlocked = false
    this.flush()
  }

  /** Nothing is sent any more. */
  close(): void {
    this.#isClosed = true
    this.#frames = []
    this.#ready.length = 0
  }

  flush(): void {
    if (this.#isClosed) return
    this.#collect()
    this.#write()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    nextTick(() => {
      this.#isScheduled = false
      this.flush()
    })
  }

  #collect(): void {
    // Those that only the window of the connection stops stay where they are.
    for (let left = this.#ready.length; left > 0 && !this.#isBlocked; left = this.#ready.length) {
      const stream = this.#ready[0] as Stream
      if (stream.queuedBytes > 0 && this.#window === 0) return
      this.#ready.shift()
      stream.isReady = false
      if (stream.isClosed || !canSend(stream)) continue
      this.#sendOne(stream)
      this.ready(stream)
      if (this.#bytes >= maxBatch) this.#write()
    }
  }

  /** One frame of data, or the end. */
  #sendOne(stream: Stream): void {
    const first = stream.queue[0]
    if (first === undefined) {
      this.#sendEnd(stream)
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
    this.#pushData(stream.id, chunk.subarray(0, length), isLast)
    if (isWhole && done !== undefined) this.#done.push(done)
    if (isLast) this.#events.localEnded(stream)
    else if (stream.queuedBytes === 0) this.#drained(stream)
  }

  #sendEnd(stream: Stream): void {
    const { id, trailers } = stream
    if (trailers === undefined) this.#pushData(id, Buffer.alloc(0), true)
    else {
      const frames = headersFrames(this.#events.trailers(trailers), id, true)
      this.#frames.push(frames)
      this.#bytes += frames.length
    }
    this.#events.localEnded(stream)
  }

  #drained(stream: Stream): void {
    if (stream.ending && stream.trailers !== undefined) return
    if (!stream.needsDrain) return
    stream.needsDrain = false
    this.#done.push(() => {
      if (!stream.isClosed) stream.events.drain()
    })
  }

  #pushData(id: number, data: Buffer, isLast: boolean): void {
    const header = Buffer.allocUnsafe(frameHeaderBytes)
    const flags = isLast ? Flag.endStream : 0
    writeFrameHeader(header, 0, { length: data.length, type: FrameType.data, flags, id })
    this.#frames.push(header)
    if (data.length > 0) this.#frames.push(data)
    this.#bytes += frameHeaderBytes + data.length
    this.#events.sentFrame()
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
function canSend({ queuedBytes, sendWindow, ending, localEnded }: Stream): boolean {
  if (localEnded) return false
  return queuedBytes > 0 ? sendWindow > 0 : ending
}
