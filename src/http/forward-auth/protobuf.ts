import { Refusal } from '../../kernel/errors.ts'

/**
 * The part of Protocol Buffers that an authorization check needs: strings, messages and small numbers.
 * https://protobuf.dev/programming-guides/encoding/
 */

const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

/** A message, or the content of one of its fields, in place: a view of it would cost more than reading it. */
export interface Part {
  readonly bytes: Buffer
  readonly from: number
  readonly to: number
}

export function wholeOf(bytes: Buffer): Part {
  return { bytes, from: 0, to: bytes.length }
}

export function latin1Of({ bytes, from, to }: Part): string {
  return bytes.toString('latin1', from, to)
}

/**
 * Goes through the fields of a message in their order. A message in a field is only a part here: the
 * caller reads those that it knows, so that nesting of the sender never becomes our recursion. Refuses
 * bytes that are not a message.
 */
export class Fields {
  /** The number of the field that `next` has found. */
  field = 0
  readonly #bytes: Buffer
  readonly #end: number
  #at: number
  /** Where the content of the field begins, if it has one. */
  #from: number | undefined

  constructor({ bytes, from, to }: Part) {
    this.#bytes = bytes
    this.#at = from
    this.#end = to
  }

  /** Goes to the next field. Returns `false` after the last. */
  next(): boolean {
    if (this.#at >= this.#end) return false
    const tag = this.#readVarint()
    this.field = Math.floor(tag / 8)
    this.#from = undefined
    if (this.field === 0 || this.field > 0x1fff_ffff) throw malformed()
    switch (tag % 8) {
      case wire.varint:
        this.#skipVarint()
        return true
      case wire.fixed64:
        this.#skip(8)
        return true
      case wire.bytes: {
        const length = this.#readVarint()
        this.#from = this.#at
        this.#skip(length)
        return true
      }
      case wire.fixed32:
        this.#skip(4)
        return true
      // Groups are obsolete, and no message that we read has one.
      default:
        throw malformed()
    }
  }

  /** The text, bytes or message in the field. Refuses a number, which no field that we read has. */
  content(): Part {
    if (this.#from === undefined) throw malformed()
    return { bytes: this.#bytes, from: this.#from, to: this.#at }
  }

  /** 32 bits are enough for tags and lengths; a longer number is skipped in its field. */
  #readVarint(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#readByte()
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw malformed()
  }

  #skipVarint(): void {
    for (let length = 0; length < 10; length++) if (this.#readByte() < 0x80) return
    throw malformed()
  }

  #readByte(): number {
    if (this.#at >= this.#end) throw malformed()
    return this.#bytes[this.#at++] as number
  }

  #skip(length: number): void {
    if (length > this.#end - this.#at) throw malformed()
    this.#at += length
  }
}

export function malformed(reason = 'malformed message'): Refusal {
  return new Refusal('bad-request', { reason })
}

/**
 * A field with text, bytes or a message, as a text of one character for each byte: V8 joins texts without
 * copying them, and the length of a message is known before it is written.
 */
export function field(number: number, content: string): string {
  return varint(number * 8 + wire.bytes) + varint(content.length) + content
}

export function numberField(number: number, value: number): string {
  return varint(number * 8 + wire.varint) + varint(value)
}

/** The bytes of a text in UTF-8, one character for each. */
export function utf8(text: string): string {
  return isAscii.test(text) ? text : Buffer.from(text).toString('latin1')
}

const isAscii = /^[\0-\x7f]*$/

export function encoded(message: string): Buffer {
  return Buffer.from(message, 'latin1')
}

function varint(value: number): string {
  let text = ''
  let rest = value
  while (rest >= 0x80) {
    text += String.fromCharCode((rest % 0x80) + 0x80)
    rest = Math.floor(rest / 0x80)
  }
  return text + String.fromCharCode(rest)
}
