/** More pieces than this are merged: a piece of one byte takes a hundred times its size. */
const maxPieces = 16

/** Bytes that arrived too early to parse, kept without much memory overhead. */
export class KeptBytes {
  #pieces: Buffer[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  get pieces(): number {
    return this.#pieces.length
  }

  push(bytes: Buffer): void {
    this.#pieces.push(bytes)
    this.#length += bytes.length
    if (this.#pieces.length > maxPieces) this.#pieces = [Buffer.concat(this.#pieces)]
  }

  /** Returns and removes all of them. */
  take(): Buffer {
    const [first, ...others] = this.#pieces
    this.#pieces = []
    this.#length = 0
    if (first === undefined) return Buffer.alloc(0)
    return others.length === 0 ? first : Buffer.concat([first, ...others])
  }
}
