import type { RequestTimeouts } from './request-head.ts'

/** Each timeout, in ticks of the pool's clock. */
export interface TimeoutTicks {
  readonly connect: number
  readonly response: number
  readonly body: number
}

interface TimeoutSettings {
  readonly connectTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
}

/** The timeouts of a pool, counted by a clock that all its connections share. */
export class PoolTicks {
  readonly tickMs: number
  readonly #timeouts: TimeoutTicks

  constructor({ connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs }: TimeoutSettings) {
    // Often enough to keep the shortest timeout accurate to a tenth.
    const shortest = Math.min(connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs)
    this.tickMs = Math.min(250, Math.max(5, Math.ceil(shortest / 10)))
    this.#timeouts = {
      connect: this.of(connectTimeoutMs),
      response: this.of(headersTimeoutMs),
      body: this.of(bodyTimeoutMs),
    }
  }

  /** One more, since the first tick may come at once. */
  of(ms: number): number {
    return Math.ceil(ms / this.tickMs) + 1
  }

  /** The timeouts of the pool, or those of a request that has its own. */
  timeouts(own?: RequestTimeouts): TimeoutTicks {
    if (own === undefined) return this.#timeouts
    const { connect, response, body } = this.#timeouts
    const { headersMs, bodyMs } = own
    return {
      connect,
      response: headersMs === undefined ? response : this.of(headersMs),
      body: bodyMs === undefined ? body : this.of(bodyMs),
    }
  }
}
