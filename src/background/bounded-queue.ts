interface QueueOptions<Item> {
  /** How many items may wait. */
  readonly most: number
  /** What a full queue drops: the item that waits longest, or the one that is added. */
  readonly drops: 'oldest' | 'newest'
  /** How many items one write carries; 1 unless set. */
  readonly batchSize?: number
  /** Of two items with one key, the later one replaces the earlier one. Unset: every item stays. */
  readonly keyOf?: (item: Item) => unknown
}

/** What waits for a store: bounded, in order, with a count of what was dropped. */
export class BoundedQueue<Item> {
  /** By key, the item that waits longest first. */
  readonly waiting = new Map<unknown, Item>()
  dropped = 0
  readonly #options: QueueOptions<Item>
  readonly #keyOf: (item: Item) => unknown

  constructor(options: QueueOptions<Item>) {
    this.#options = options
    this.#keyOf = options.keyOf ?? ((item) => item)
  }

  /** Returns whether the queue took the item. */
  add(item: Item): boolean {
    const { most, drops } = this.#options
    this.waiting.delete(this.#keyOf(item))
    if (this.waiting.size >= most) {
      this.dropped++
      if (drops === 'newest') return false
      const [oldest] = this.waiting.keys()
      this.waiting.delete(oldest)
    }
    this.waiting.set(this.#keyOf(item), item)
    return true
  }

  /**
   * Writes what waits, batch by batch, until nothing waits or the signal is aborted. A batch that fails
   * stays, and so does an item that was replaced meanwhile.
   */
  async drain(
    write: (batch: readonly Item[]) => Promise<unknown>,
    signal?: AbortSignal,
  ): Promise<void> {
    while (this.waiting.size > 0 && signal?.aborted !== true) {
      const batch = [...this.waiting.values()].slice(0, this.#options.batchSize ?? 1)
      await write(batch)
      for (const item of batch) {
        const key = this.#keyOf(item)
        if (this.waiting.get(key) === item) this.waiting.delete(key)
      }
    }
  }
}
