import { DynamicTable, defaultTableBytes, entryOverhead } from './dynamic-table.ts'
import { staticFields } from './static-table.ts'

interface IndexedField {
  readonly name: string
  readonly value: string
  readonly bytes: number
  /** How many entries were added before it. */
  readonly number: number
}

/** How fields of one name are encoded. */
interface Name {
  /** In the static table; 0 if it is not there. */
  readonly index: number
  /** The values that the static table has. */
  readonly values: Map<string, number>
  readonly use: 'indexed' | 'literal' | 'never-indexed'
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

const names = new Map<string, Name>()
for (const [at, [name, value]] of staticFields.entries()) {
  const known = names.get(name) ?? toName(name, at + 1)
  if (value !== '') known.values.set(value, at + 1)
  names.set(name, known)
}
for (const name of changing) if (!names.has(name)) names.set(name, toName(name, 0))
const otherName = toName('', 0)

function toName(name: string, index: number): Name {
  const use = sensitive.has(name) ? 'never-indexed' : changing.has(name) ? 'literal' : 'indexed'
  return { index, values: new Map(), use }
}

/** What is being encoded; blocks are copied from here. */
let bytes = Buffer.allocUnsafe(4096)
/** So much of it is kept after a larger block. */
const keptBytes = 65_536

/**
 * Encodes the header blocks of one connection (RFC 7541). Every block must be sent, in order. It uses
 * no Huffman codes: they save a few bytes of first mentions and cost more time than they save.
 */
export class Encoder {
  readonly #indexes = new Map<string, Map<string, IndexedField>>()
  readonly #table = new DynamicTable<IndexedField>((gone) => this.#forget(gone))
  #added = 0
  #tableBytes = defaultTableBytes
  /** The smallest size since the last block, if the size has changed. */
  #smallest: number | undefined
  #at = 0

  /** The peer's decoder has a table of this size. */
  limit(tableBytes: number): void {
    const size = Math.min(tableBytes, defaultTableBytes)
    if (size === this.#tableBytes) return
    this.#tableBytes = size
    this.#smallest = Math.min(this.#smallest ?? size, size)
    this.#table.resize(size)
  }

  /**
   * Name, value, name, value … Names must be lower case, and values Latin-1. The block is valid until
   * another one is encoded, on any connection.
   */
  encode(fields: readonly string[]): Buffer {
    this.#at = 0
    if (bytes.length > keptBytes) bytes = Buffer.allocUnsafe(keptBytes)
    if (this.#smallest !== undefined) this.#updateSize(this.#smallest)
    for (let at = 0; at < fields.length; at += 2) {
      this.#field(fields[at] as string, fields[at + 1] as string)
    }
    return bytes.subarray(0, this.#at)
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
    const { index, values, use } = names.get(name) ?? otherName
    const fixed = values.get(value)
    if (fixed !== undefined) this.#integer(0x80, 0x7f, fixed)
    else if (use === 'never-indexed') this.#literal(0x10, 0x0f, index, name, value)
    else if (use === 'literal' || value.length > maxIndexedValue) {
      this.#literal(0, 0x0f, index, name, value)
    } else this.#indexed(index, name, value)
  }

  #indexed(nameIndex: number, name: string, value: string): void {
    const entry = this.#indexes.get(name)?.get(value)
    if (entry !== undefined) {
      this.#integer(0x80, 0x7f, staticFields.length + this.#added - entry.number)
      return
    }
    this.#literal(0x40, 0x3f, nameIndex, name, value)
    this.#remember(name, value)
  }

  #remember(name: string, value: string): void {
    const entry: IndexedField = {
      name,
      value,
      bytes: name.length + value.length + entryOverhead,
      number: this.#added,
    }
    if (!this.#table.add(entry)) return
    this.#added++
    const ofName = this.#indexes.get(name) ?? new Map<string, IndexedField>()
    ofName.set(value, entry)
    this.#indexes.set(name, ofName)
  }

  #forget({ name, value }: IndexedField): void {
    const ofName = this.#indexes.get(name)
    ofName?.delete(value)
    if (ofName?.size === 0) this.#indexes.delete(name)
  }

  #literal(pattern: number, mask: number, nameIndex: number, name: string, value: string): void {
    this.#integer(pattern, mask, nameIndex)
    if (nameIndex === 0) this.#string(name)
    this.#string(value)
  }

  #string(text: string): void {
    this.#integer(0, 0x7f, text.length)
    bytes.write(text, this.#at, 'latin1')
    this.#at += text.length
  }

  #integer(pattern: number, mask: number, value: number): void {
    if (value < mask) {
      bytes[this.#at++] = pattern | value
      return
    }
    bytes[this.#at++] = pattern | mask
    let rest = value - mask
    while (rest >= 0x80) {
      bytes[this.#at++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    bytes[this.#at++] = rest
  }

  #reserve(more: number): void {
    if (this.#at + more <= bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(bytes.length * 2, this.#at + more))
    bytes.copy(larger, 0, 0, this.#at)
    bytes = larger
  }
}
