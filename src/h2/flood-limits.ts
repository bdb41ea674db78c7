/** What a peer can send at little expense to itself and much to us. */
const floods = [
  'reset',
  'stream-error',
  'settings',
  'ping',
  'priority',
  'window-update',
  'empty-data',
  'continuation',
  'unknown-frame',
] as const

export type Flood = (typeof floods)[number]

/** Tokens that come back with time. */
class Bucket {
  readonly #most: number
  readonly #perMs: number
  #left: number
  #at = performance.now()

  constructor(most: number, perSecond: number) {
    this.#most = most
    this.#perMs = perSecond / 1000
    this.#left = most
  }

  earn(tokens: number): void {
    if (this.#left < this.#most) this.#left = Math.min(this.#most, this.#left + tokens)
  }

  /** Returns `false` if none is left. */
  spend(): boolean {
    if (this.#left < 1) this.#refill()
    this.#left--
    return this.#left >= 0
  }

  #refill(): void {
    const now = performance.now()
    this.earn((now - this.#at) * this.#perMs)
    this.#at = now
  }
}

/** For each frame that carries a message, a peer may send so many that carry none. */
const controlsPerMessage = 3

/**
 * Bounds the frames that cost us work without a request being served: streams that are reset at once
 * (CVE-2023-44487), errors that make us reset them (CVE-2025-8671), SETTINGS, PING, PRIORITY and empty
 * DATA (CVE-2019-9512 to -9518). A peer that is served earns more of them.
 */
export class FloodLimits {
  readonly #resets = new Bucket(200, 20)
  readonly #controls = new Bucket(1000, 100)

  /** Returns `false` if the connection must end. */
  allows(kind: Flood): boolean {
    if (kind === 'reset' || kind === 'stream-error') return this.#resets.spend()
    return this.#controls.spend()
  }

  /** A stream was served to its end. */
  served(): void {
    this.#resets.earn(1)
  }

  /** A HEADERS or DATA frame of a message was sent. */
  sent(): void {
    this.#controls.earn(controlsPerMessage)
  }
}
