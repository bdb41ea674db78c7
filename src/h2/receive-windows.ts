import { ConnectionError, ErrorCode } from './error-codes.ts'
import { defaultWindow, FrameType, numberFrame } from './frames.ts'
import type { Stream } from './stream.ts'

/** How much the peer may send ahead. */
interface WindowSettings {
  readonly streamWindow: number
  readonly connectionWindow: number
}

/**
 * How much the peer may still send, on the connection and on each stream (RFC 9113 6.9). WINDOW_UPDATE
 * opens a window again when half of it was read.
 */
export class ReceiveWindows {
  readonly #settings: WindowSettings
  readonly #send: (frame: Buffer) => void
  #window: number
  /** Read or dropped, but the window of the connection was not opened for it yet. */
  #unannounced = 0

  constructor(settings: WindowSettings, send: (frame: Buffer) => void) {
    this.#settings = settings
    this.#send = send
    // Until it has our SETTINGS, the peer uses the default.
    this.#window = Math.max(settings.connectionWindow, defaultWindow)
  }

  /** Of a new stream. */
  get ofStream(): number {
    return Math.max(this.#settings.streamWindow, defaultWindow)
  }

  /** Throws if the peer may not send so much on the connection. */
  check(bytes: number): void {
    if (bytes <= this.#window) return
    throw new ConnectionError(ErrorCode.flowControlError, 'connection window exceeded')
  }

  /** So much has arrived, for a stream or, without one, to be dropped. */
  received(bytes: number, stream: Stream | undefined): void {
    this.#window -= bytes
    if (stream === undefined) this.#announce(bytes)
    else {
      stream.receiveWindow -= bytes
      stream.unread += bytes
    }
  }

  /** So much of what has arrived for a stream was read. */
  consumed(stream: Stream, bytes: number): void {
    const read = Math.min(bytes, stream.unread)
    stream.unread -= read
    this.#announce(read)
    if (stream.isClosed || stream.remoteEnded) return
    stream.unannounced += read
    if (stream.unannounced * 2 < this.#settings.streamWindow) return
    this.#send(numberFrame(FrameType.windowUpdate, stream.id, stream.unannounced))
    stream.receiveWindow += stream.unannounced
    stream.unannounced = 0
  }

  /** What a stream has not read is dropped. */
  closed(stream: Stream): void {
    this.#announce(stream.unread)
    stream.unread = 0
  }

  #announce(bytes: number): void {
    this.#unannounced += bytes
    if (this.#unannounced * 2 < this.#settings.connectionWindow) return
    this.#send(numberFrame(FrameType.windowUpdate, 0, this.#unannounced))
    this.#window += this.#unannounced
    this.#unannounced = 0
  }
}
