const headEnd = Buffer.from('\r\n\r\n')
const carriageReturn = 0x0d
const lineFeed = 0x0a

/** How many bytes of CRLF CRLF match, including this one. */
function matchedWith(byte: number | undefined, matched: number): number {
  if (byte === carriageReturn) return matched === 2 ? 3 : 1
  if (byte !== lineFeed) return 0
  return matched === 1 ? 2 : matched === 3 ? 4 : 0
}

/**
 * Finds the ends of request heads in a stream of chunks. A head ends with an empty line, so at most one
 * request begins between two empty lines.
 */
export class HeadEnds {
  #matched = 0

  /** The end of the first empty line after `at`, or the end of the chunk. */
  next(bytes: Buffer, at: number): number {
    let from = at
    while (this.#matched > 0 && from < bytes.length) {
      this.#matched = matchedWith(bytes[from++], this.#matched)
      if (this.#matched === 4) {
        this.#matched = 0
        return from
      }
    }
    if (from === bytes.length) return from

    const found = bytes.indexOf(headEnd, from)
    if (found !== -1) return found + headEnd.length
    for (const byte of bytes.subarray(Math.max(from, bytes.length - 3))) {
      this.#matched = matchedWith(byte, this.#matched)
    }
    return bytes.length
  }

  reset(): void {
    this.#matched = 0
  }
}
