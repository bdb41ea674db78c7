/** RFC 7541 4.1: what each entry counts beside its bytes. */
export const entryOverhead = 32

/** The size that both sides begin with, and the largest that we use. */
export const defaultTableBytes = 4096

/**
 * The entries that both sides have in common, the newest first (RFC 7541 2.3.2). They are kept in a ring,
 * so that adding one moves no other.
 */
export class DynamicTable<Entry extends { readonly bytes: number }> {
  #entries: (Entry | undefined)[] = new Array(128)
  /** Where the newest entry is. */
  #newest = 0
  #count = 0
  #bytes = 0
  #most = defaultTableBytes
  readonly #evicted: (entry: Entry) => void

  constructor(evicted: (entry: Entry) => void = () => {}) {
    this.#evicted = evicted
  }

  get count(): number {
    return this.#count
  }

  /** 0: the newest. */
  at(index: number): Entry | undefined {
    if (index >= this.#count) return undefined
    return this.#entries[(this.#newest - index + this.#entries.length) % this.#entries.length]
  }

  /** An entry that is larger than the table empties it (RFC 7541 4.4). */
  add(entry: Entry): boolean {
    this.#shrink(this.#most - entry.bytes)
    if (entry.bytes > this.#most) return false
    // Each entry has at least 32 bytes, so a table of 4,096 has at most 128.
    this.#newest = (this.#newest + 1) % this.#entries.length
    this.#entries[this.#newest] = entry
    this.#count++
    this.#bytes += entry.bytes
    return true
  }

  resize(most: number): void {
    this.#most = most
    this.#shrink(most)
  }

  #shrink(most: number): void {
    while (this.#count > 0 && this.#bytes > most) {
      const size = this.#entries.length
      const oldest = (this.#newest - this.#count + 1 + size) % size
      const entry = this.#entries[oldest] as Entry
      this.#entries[oldest] = undefined
      this.#count--
      this.#bytes -= entry.bytes
      this.#evicted(entry)
    }
  }
}
