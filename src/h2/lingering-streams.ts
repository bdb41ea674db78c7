interface LingeringEvents {
  /** Sends a PING and calls `answered` with its answer. */
  readonly ping: (answered: () => void) => void
  /** It is to be reset. */
  readonly reset: (streamId: number) => void
  /** The client has ended it. */
  readonly ended: (streamId: number) => void
}

/** For a client that answers no PING. */
const mostMs = 2000

/**
 * Streams of a server whose response is complete before their request. RST_STREAM with NO_ERROR asks the
 * client to stop sending (RFC 9113 8.1), but a client that reads it together with the response may drop
 * the response: Node's does. So it is sent when the client has answered a PING that followed the
 * response, unless the client has ended its request by then.
 */
export class LingeringStreams {
  readonly #events: LingeringEvents
  readonly #ids = new Set<number>()
  #timer: NodeJS.Timeout | undefined

  constructor(events: LingeringEvents) {
    this.#events = events
  }

  get size(): number {
    return this.#ids.size
  }

  has(streamId: number): boolean {
    return this.#ids.has(streamId)
  }

  /** The last frame of its response was sent. */
  add(streamId: number): void {
    this.#ids.add(streamId)
    if (this.#timer === undefined) this.#ask()
  }

  /** The client sends nothing more on this stream. Returns whether it was lingering. */
  ended(streamId: number): boolean {
    if (!this.#ids.delete(streamId)) return false
    this.#events.ended(streamId)
    return true
  }

  /** The connection is closed. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#ids.clear()
  }

  /** One PING at a time is for all streams that have come since the last one. */
  #ask(): void {
    const streamIds = [...this.#ids]
    // A late answer finds another timer.
    const answered = () => {
      if (this.#timer === timer) this.#answered(streamIds)
    }
    const timer = setTimeout(answered, mostMs).unref()
    this.#timer = timer
    this.#events.ping(answered)
  }

  #answered(streamIds: readonly number[]): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const streamId of streamIds) {
      if (this.#ids.delete(streamId)) this.#events.reset(streamId)
    }
    if (this.#ids.size > 0) this.#ask()
  }
}
