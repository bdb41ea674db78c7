import { ConnectionError, ErrorCode } from './error-codes.ts'

/** What a peer can send at little expense to itself and much to us. */
export type Flood =
  | 'reset'
  | 'stream-error'
  | 'settings'
  | 'ping'
  | 'priority'
  | 'window-update'
  | 'empty-data'
  | 'continuation'
  | 'goaway'
  | 'interim-response'
  | 'late-frame'
  | 'unknown-frame'
  | 'unread-answers'

/** The peer sent too much of one thing. */
export class FloodError extends ConnectionError {
  readonly kind: Flood

  constructor(kind: Flood) {
    super(ErrorCode.enhanceYourCalm, `too many frames: ${kind}`)
    this.name = 'FloodError'
    this.kind = kind
  }
}

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
    if (this.#left < 1) return false
    this.#left--
    return true
  }

  #refill(): void {
    const now = performance.now()
    this.earn((now - this.#at) * this.#perMs)
    this.#at = now
  }
}

/**
 * For each frame of a message that we send, a peer may send so many that carry none, and one more for
 * each so many bytes: clients of Go with a buffered reader update both windows for every 4 KiB they read.
 */
const controlsPerMessage = 3
const bytesPerControl = 512

/**
 * Bounds the frames that cost us work without a request being served: streams that are reset at once
 * (CVE-2023-44487), errors that make us reset them (CVE-2025-8671), SETTINGS, PING, PRIORITY and empty
 * DATA (CVE-2019-9512 to -9518). A peer that is served earns more of them.
 */
export class FloodLimits {
  readonly #limitsResets: boolean
  readonly #resets = new Bucket(200, 20)
  readonly #controls = new Bucket(1000, 100)

  /** A server resets only what we have asked for, so that a client need not limit it. */
  constructor(role: 'server' | 'client') {
    this.#limitsResets = role === 'server'
  }

  /** Throws if the connection must end. */
  spend(kind: Flood): void {
    if (kind === 'reset' || kind === 'stream-error') {
      if (this.#limitsResets && !this.#resets.spend()) throw new FloodError(kind)
    } else if (!this.#controls.spend()) throw new FloodError(kind)
  }

  /** A stream was served to its end. */
  served(): void {
    this.#resets.earn(1)
  }

  /** A HEADERS or DATA frame of a message was sent. */
  sent(bytes: number): void {
    this.#controls.earn(controlsPerMessage + bytes / bytesPerControl)
  }

  /** A DATA frame that is not empty was received. */
  received(): void {
    this.#controls.earn(1)
  }
}
