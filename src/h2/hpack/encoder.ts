import { DynamicTable, defaultTableBytes, entryOverhead } from './dynamic-table.ts'
import { staticFields } from './static-table.ts'

interface Entry {
  readonly key: string
  readonly bytes: number
  /** How many entries were added before it. */
  readonly number: number
}

/** A proxy on the way must not add them to a table either (RFC 7541 7.1.3). */
const sensitive = new Set(['authorization', 'cookie', 'set-cookie', 'proxy-authorization'])

/** Their values rarely come twice, so entries for them would only displace others. */
const changing = new Set([
  ...[':path', 'content-length', 'content-range', 'date', 'etag', 'expires', 'age', 'location'],
  ...['last-modified', 'if-modified-since', 'if-none-match', 'x-request-id', 'traceparent'],
  ...['grpc-message', 'grpc-timeout', 'content-disposition', 'referer', 'range'],
])

/** A longer value would take too much of the table. */
const maxIndexedValue = 256

const staticIndexes = new Map<string, number>()
const staticNames = new Map<string, number>()
for (const [at, [name, value]] of staticFields.entries()) {
  if (value !== '') staticIndexes.set(`${name}\0${value}`, at + 1)
  if (!staticNames.has(name)) staticNames.set(name, at + 1)
}

/**
 * Encodes the header blocks of one connection (RFC 7541). Every block must be sent, in order. It uses
 * no Huffman codes: they save a few bytes of first mentions and cost more time than they save.
 */
export class Encoder {
  readonly #indexes = new Map<string, Entry>()
  readonly #table = new DynamicTable<Entry>((gone) => {
    if (this.#indexes.get(gone.key) === gone) this.#indexes.delete(gone.key)
  })
  #added = 0
  #tableBytes = defaultTableBytes
  /** The smallest size since the last block, if the size has changed. */
  #smallest: number | undefined
  #bytes = Buffer.allocUnsafe(1024)
  #at = 0

  /** The peer's decoder has a table of this size. */
  limit(tableBytes: number): void {
    const size = Math.min(tableBytes, defaultTableBytes)
    if (size === this.#tableBytes) return
    this.#tableBytes = size
    this.#smallest = Math.min(this.#smallest ?? size, size)
    this.#table.resize(size)
  }

  /** Name, value, name, value … Names must be lower case, and values Latin-1. */
  encode(fields: readonly string[]): Buffer {
    this.#at = 0
    if (this.#smallest !== undefined) this.#updateSize(this.#smallest)
    for (let at = 0; at < fields.length; at += 2) {
      this.#field(fields[at] as string, fields[at + 1] as string)
    }
    return Buffer.from(this.#bytes.subarray(0, this.#at))
  }

  /** RFC 7541 4.2: the smallest size since the last block first, since the decoder evicts entries by it. */
  #updateSize(smallest: number): void {
    this.#reserve(8)
    if (smallest < this.#tableBytes) this.#integer(0x20, 0x1f, smallest)
    this.#integer(0x20, 0x1f, this.#tableBytes)
    this.#smallest = undefined
  }

  #field(name: string, value: string): void {
    this.#reserve(name.length + value.length + 16)
    const mayIndex = value.length <= maxIndexedValue && !changing.has(name) && !sensitive.has(name)
    const key = mayIndex || value.length < 16 ? `${name}\0${value}` : ''
    const fixed = staticIndexes.get(key)
    if (fixed !== undefined) {
      this.#integer(0x80, 0x7f, fixed)
      return
    }
    const nameIndex = staticNames.get(name) ?? 0
    if (!mayIndex) {
      this.#literal(sensitive.has(name) ? 0x10 : 0, 0x0f, [nameIndex, name, value])
      return
    }
    const entry = this.#indexes.get(key)
    if (entry !== undefined) {
      this.#integer(0x80, 0x7f, staticFields.length + this.#added - entry.number)
      return
    }
    this.#literal(0x40, 0x3f, [nameIndex, name, value])
    const bytes = name.length + value.length + entryOverhead
    const added: Entry = { key, bytes, number: this.#added }
    if (!this.#table.add(added)) return
    this.#added++
    this.#indexes.set(key, added)
  }

  #literal(
    pattern: number,
    mask: number,
    [nameIndex, name, value]: readonly [number, string, string],
  ): void {
    this.#integer(pattern, mask, nameIndex)
    if (nameIndex === 0) this.#string(name)
    this.#string(value)
  }

  #string(text: string): void {
    this.#integer(0, 0x7f, text.length)
    this.#bytes.write(text, this.#at, 'latin1')
    this.#at += text.length
  }

  #integer(pattern: number, mask: number, value: number): void {
    if (value < mask) {
      this.#bytes[this.#at++] = pattern | value
      return
    }
    this.#bytes[this.#at++] = pattern | mask
    let rest = value - mask
    while (rest >= 0x80) {
      this.#bytes[this.#at++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.#bytes[this.#at++] = rest
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + bytes))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}
