/** How a stream was closed: only after a reset of ours may frames of the peer still be on their way. */
type Closing = 'reset' | 'ended'

/**
 * The streams that were closed last. A peer that knows of our reset sends nothing more, and it opens no
 * more streams than its limit before it knows, so that few need to be remembered.
 */
export class ClosedStreams {
  readonly #ids: Int32Array
  readonly #wasReset: Uint8Array
  #next = 0

  constructor(most: number) {
    this.#ids = new Int32Array(most)
    this.#wasReset = new Uint8Array(most)
  }

  add(streamId: number, closing: Closing): void {
    this.#ids[this.#next] = streamId
    this.#wasReset[this.#next] = closing === 'reset' ? 1 : 0
    this.#next = (this.#next + 1) % this.#ids.length
  }

  /** `undefined` for a stream that never began, or was closed long ago. */
  of(streamId: number): Closing | undefined {
    const at = this.#ids.indexOf(streamId)
    if (at === -1) return undefined
    return this.#wasReset[at] === 1 ? 'reset' : 'ended'
  }

  /** The peer has said that it sends nothing more on a stream that we have reset. */
  end(streamId: number): void {
    const at = this.#ids.indexOf(streamId)
    if (at !== -1) this.#wasReset[at] = 0
  }
}
