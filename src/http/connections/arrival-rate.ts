/** Arrivals are counted for this long. */
const windowMs = 50
/** As many within it are a crowd: 320 connections a second. */
const crowd = 16

/** Whether connections come in so fast that it pays to look which of their clients stay. */
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
 * Calls back when the event loop has polled once more, which shows whether a client has left. In a
 * crowd that connects, sends and leaves, every request would otherwise run for a client that is gone,
 * before the requests of the clients that stay.
 */
export function afterArrivals(callback: () => void): void {
  setImmediate(() => setImmediate(callback))
}
