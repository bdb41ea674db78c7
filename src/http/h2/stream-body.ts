import { Readable } from 'node:stream'
import type { Body } from '../../gateway/arrival/arrival.ts'
import type { Stream } from '../../h2/stream.ts'
import { withoutRest } from '../../h2/without-rest.ts'
import type { Refusal } from '../../kernel/errors.ts'

/** The body of a request over HTTP/2. The window opens as the pipeline reads. */
export class StreamBody extends Readable implements Body {
  complete = false
  failure?: Refusal
  lasts = false
  readonly #stream: Stream
  /** Pushed since the pipeline last asked for more. */
  #pushed = 0

  constructor(stream: Stream) {
    // Destroyed only by the stream: our response must still reach a client whose body is not wanted.
    super({ autoDestroy: false })
    this.#stream = stream
  }

  override _read(): void {
    const read = this.#pushed
    this.#pushed = 0
    this.#stream.consumed(read)
  }

  arrived(chunk: Buffer): void {
    this.#pushed += chunk.length
    if (!this.destroyed) this.push(withoutRest(chunk))
  }

  ended(): void {
    this.complete = true
    if (!this.destroyed) this.push(null)
  }

  /** It will never be complete, although its client still reads. */
  fail(reason: Refusal): void {
    if (this.complete || this.failure !== undefined) return
    this.failure = reason
    // Without a listener it would be an uncaught exception; a later reader of the body finds `failure`.
    if (this.listenerCount('error') > 0) this.emit('error', reason)
  }
}
