import type { Stream } from '../../h2/stream.ts'
import type { Upload } from '../request-head.ts'
import { wrongLength } from '../upload.ts'

interface UploadEvents {
  /** Whether its request still has the stream. */
  readonly isWanted: () => boolean
  /** A chunk was taken. */
  readonly onData: () => void
  /** The windows of the server, or the socket, take no more. */
  readonly onBlocked: () => void
  readonly onSent: () => void
  /** It will never be complete. */
  readonly onFailed: (error: Error) => void
}

/** So much of a body is kept in case that the server has not processed any of it. */
const maxKept = 65_536

/** The body of a request on its stream. A body that differs from its Content-Length fails. */
export class StreamUpload {
  readonly #upload: Upload
  readonly #stream: Stream
  readonly #events: UploadEvents
  #sent = 0
  /** The body so far; `undefined` when it has become too long. */
  #kept: Buffer[] | undefined

  constructor(upload: Upload, stream: Stream, events: UploadEvents) {
    this.#upload = upload
    this.#stream = stream
    this.#events = events
    this.#kept = upload.rewind === undefined ? undefined : []
  }

  start(): void {
    const events = this.#events
    this.#upload.start({
      data: (chunk) => this.#take(chunk),
      end: () => {
        if (!events.isWanted()) return
        if (this.#sent < (this.#upload.length ?? 0)) events.onFailed(wrongLength())
        else {
          this.#stream.end()
          events.onSent()
        }
      },
      fail: (error) => {
        if (events.isWanted()) events.onFailed(error)
      },
    })
  }

  resume(): void {
    this.#upload.resume()
  }

  /** The server has the request: it will not be sent again. */
  forget(): void {
    this.#kept = undefined
  }

  /** The server has not processed any of it. Returns whether it can be sent again. */
  rewind(): boolean {
    const kept = this.#kept
    if (kept === undefined) return false
    this.#kept = undefined
    this.#upload.rewind?.(kept)
    return true
  }

  #take(chunk: Buffer): boolean {
    if (chunk.length === 0 || !this.#events.isWanted()) return true
    this.#sent += chunk.length
    if (this.#sent > (this.#upload.length ?? Number.POSITIVE_INFINITY)) {
      this.#events.onFailed(wrongLength())
      return true
    }
    if (this.#sent > maxKept) this.#kept = undefined
    else this.#kept?.push(chunk)
    this.#events.onData()
    const hasRoom = this.#stream.write(chunk)
    if (!hasRoom) this.#events.onBlocked()
    return hasRoom
  }
}
