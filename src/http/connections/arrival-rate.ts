const windowMs = 50
/** Connections per window that count as a crowd: 320 a second. */
const crowd = 16

/** Whether connections arrive so fast that it pays to check which of their clients stay. */
export class ArrivalRate {
  #since = Number.NEGATIVE_INFINITY
  #count = 0
  #before = 0

  arrived(): void {
    const now = performance.now()
    const passed = now - this.#since
    if (passed >= windowMs) {
      this.#before = passed < 2 * windowMs ? this.#count : 0
      this.#count = 0
      this.#since = now
    }
    this.#count++
  }

  isCrowd(): boolean {
    if (Math.max(this.#count, this.#before) < crowd) return false
    return performance.now() - this.#since < 2 * windowMs
  }
}

/**
 * Calls back after the next poll of the event loop, which shows whether a client has disconnected. In
 * a crowd that connects, sends and disconnects, requests of absent clients would otherwise run before
 * those of the clients that stay.
 */
export function afterArrivals(callback: () => void): void {
  setImmediate(() => setImmediate(callback))
}
