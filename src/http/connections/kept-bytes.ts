/** More pieces than this are made one: a piece of one byte takes a hundred times its size. */
const maxPieces = 16

/** Bytes that came before anything may read them. They take little more memory than their number. */
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

  /** All of them, which are not kept any more. */
  take(): Buffer {
    const [first, ...others] = this.#pieces
    this.#pieces = []
    this.#length = 0
    if (first === undefined) return Buffer.alloc(0)
    return others.length === 0 ? first : Buffer.concat([first, ...others])
  }
}
