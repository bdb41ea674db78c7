import { ConnectionError, ErrorCode } from '../error-codes.ts'
import { DynamicTable, defaultTableBytes, entryOverhead } from './dynamic-table.ts'
import { decodeHuffman } from './huffman.ts'
import { staticFields } from './static-table.ts'

/** A field as it was received. Fields of the tables are checked once, when they are entered. */
export interface Field {
  readonly name: string
  readonly value: string
  /** With the overhead of RFC 7541 4.1. */
  readonly bytes: number
  /** Why the message with this field is malformed (RFC 9113 8.2.1), if it is. */
  readonly problem: string | undefined
}

export interface HeaderLimits {
  /** The most bytes of all fields, each with the overhead of RFC 7541 4.1. */
  readonly headerBytes: number
  /** The most fields, apart from cookies. */
  readonly headerCount: number
}

const nameForm = /^:?[!#$%&'*+.^_`|~0-9a-z-]+$/
const unfitForValue = /[^\t\x20-\x7e\x80-\xff]/

const noBytes = Buffer.alloc(0)
const known: readonly Field[] = staticFields.map(([name, value]) => toField(name, value))

/** Decodes the header blocks of one connection (RFC 7541). Every block must pass through it, in order. */
export class Decoder {
  readonly #table = new DynamicTable<Field>()
  readonly #limits: HeaderLimits
  #bytes: Buffer = noBytes
  #at = 0

  constructor(limits: HeaderLimits) {
    this.#limits = limits
  }

  /** Throws a ConnectionError: after an error in the compression, nothing that follows can be read. */
  decode(block: Buffer) {
    const { headerBytes, headerCount } = this.#limits
    const fields: Field[] = []
    let listBytes = 0
    let headers = 0
    let tooLarge = false
    this.#bytes = block
    this.#at = 0
    while (this.#at < block.length) {
      const field = this.#next(fields.length === 0 && listBytes === 0)
      if (field === undefined) continue
      listBytes += field.bytes
      // Browsers send a field for each cookie (RFC 9113 8.2.3). Their bytes bound them.
      if (field.name !== 'cookie') headers++
      // The rest is still decoded, since it changes the table, but a bomb of references takes no memory.
      if (listBytes > headerBytes || headers > headerCount) tooLarge = true
      else fields.push(field)
    }
    // The chunk that it arrived in is not kept until the next block.
    this.#bytes = noBytes
    return { fields, tooLarge }
  }

  /** `undefined` for a change of the table's size, which must come before all fields. */
  #next(isFirst: boolean): Field | undefined {
    const first = this.#bytes[this.#at] as number
    if ((first & 0x80) !== 0) return this.#fieldAt(this.#integer(0x7f))
    if ((first & 0x40) !== 0) {
      const field = this.#literal(0x3f)
      this.#table.add(field)
      return field
    }
    if ((first & 0x20) === 0) return this.#literal(0x0f)
    const size = this.#integer(0x1f)
    if (!isFirst || size > defaultTableBytes) throw broken('invalid table size update')
    this.#table.resize(size)
    return undefined
  }

  #literal(mask: number): Field {
    const index = this.#integer(mask)
    const name = index === 0 ? this.#string() : this.#fieldAt(index).name
    return toField(name, this.#string())
  }

  #fieldAt(index: number): Field {
    const field =
      index <= known.length ? known[index - 1] : this.#table.at(index - known.length - 1)
    if (field === undefined) throw broken('index outside the tables')
    return field
  }

  /** RFC 7541 5.1. Nothing here needs more than four bytes. */
  #integer(mask: number): number {
    let value = (this.#bytes[this.#at++] as number) & mask
    if (value < mask) return value
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw broken('header block ends inside an integer')
      value += (byte & 0x7f) << shift
      if ((byte & 0x80) === 0) return value
    }
    throw broken('integer is too large')
  }

  #string(): string {
    const first = this.#bytes[this.#at]
    if (first === undefined) throw broken('header block ends inside a field')
    const length = this.#integer(0x7f)
    const from = this.#at
    const to = from + length
    if (to > this.#bytes.length) throw broken('header block ends inside a string')
    this.#at = to
    if ((first & 0x80) !== 0) return decodeHuffman(this.#bytes, from, to)
    return this.#bytes.toString('latin1', from, to)
  }
}

function toField(name: string, value: string): Field {
  const bytes = name.length + value.length + entryOverhead
  return { name, value, bytes, problem: problemOf(name, value) }
}

/** RFC 9113 8.2.1: such a message is malformed. Passing it on would let HTTP/1.1 read another one. */
function problemOf(name: string, value: string): string | undefined {
  if (!nameForm.test(name)) return 'invalid header name'
  if (unfitForValue.test(value)) return 'invalid character in a header value'
  if (isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1))) {
    return 'white space around a header value'
  }
  return undefined
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function broken(message: string): ConnectionError {
  return new ConnectionError(ErrorCode.compressionError, message)
}
