import { Refusal } from '../../errors.ts'

/**
 * The part of Protocol Buffers that an authorization check needs: strings, messages and small numbers.
 * https://protobuf.dev/programming-guides/encoding/
 */

/** The bytes of a string or a message; `undefined` for a number, which no field that we read has. */
type Content = Buffer | undefined

const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

/**
 * Calls `take` for each field of a message, in their order. A message in a field is bytes here: the
 * caller reads those that it knows, so that nesting of the sender never becomes our recursion. Refuses
 * bytes that are not a message.
 */
export function readFields(message: Buffer, take: (field: number, content: Content) => void): void {
  let at = 0

  /** 32 bits are enough for tags and lengths; a longer number is skipped in its field. */
  function readVarint(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = message[at++]
      if (byte === undefined) throw malformed()
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw malformed()
  }

  function skipVarint(): void {
    for (let length = 0; length < 10; length++) {
      const byte = message[at++]
      if (byte === undefined) throw malformed()
      if (byte < 0x80) return
    }
    throw malformed()
  }

  function takeBytes(length: number): Buffer {
    if (length > message.length - at) throw malformed()
    at += length
    return message.subarray(at - length, at)
  }

  while (at < message.length) {
    const tag = readVarint()
    const field = Math.floor(tag / 8)
    if (field === 0 || field > 0x1fff_ffff) throw malformed()
    switch (tag % 8) {
      case wire.varint:
        skipVarint()
        take(field, undefined)
        break
      case wire.fixed64:
        takeBytes(8)
        take(field, undefined)
        break
      case wire.bytes:
        take(field, takeBytes(readVarint()))
        break
      case wire.fixed32:
        takeBytes(4)
        take(field, undefined)
        break
      // Groups are obsolete, and no message that we read has one.
      default:
        throw malformed()
    }
  }
}

export function malformed(reason = 'malformed message'): Refusal {
  return new Refusal('bad-request', { reason })
}

/** The fields of a message in their order, each with its number. */
export type Message = readonly (readonly [field: number, value: Value])[]
type Value = number | string | Buffer | Message

/** In one buffer: a check has many small fields, and a buffer for each would cost more than the check. */
export function encode(message: Message): Buffer {
  const bytes = Buffer.allocUnsafe(sizeOf(message))
  write(bytes, 0, message)
  return bytes
}

function sizeOf(message: Message): number {
  let size = 0
  for (const [field, value] of message) {
    size += varintSize(field * 8)
    if (typeof value === 'number') size += varintSize(value)
    else {
      const content = contentSize(value)
      size += varintSize(content) + content
    }
  }
  return size
}

function contentSize(value: Exclude<Value, number>): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  return Buffer.isBuffer(value) ? value.length : sizeOf(value)
}

/** Returns where the next field begins. */
function write(bytes: Buffer, start: number, message: Message): number {
  let at = start
  for (const [field, value] of message) {
    const isNumber = typeof value === 'number'
    at = writeVarint(bytes, at, field * 8 + (isNumber ? wire.varint : wire.bytes))
    at = writeVarint(bytes, at, isNumber ? value : contentSize(value))
    if (typeof value === 'string') at += bytes.write(value, at)
    else if (Buffer.isBuffer(value)) at += value.copy(bytes, at)
    else if (!isNumber) at = write(bytes, at, value)
  }
  return at
}

function varintSize(value: number): number {
  let size = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++
  return size
}

function writeVarint(bytes: Buffer, start: number, value: number): number {
  let at = start
  let rest = value
  while (rest >= 0x80) {
    bytes[at++] = (rest % 0x80) + 0x80
    rest = Math.floor(rest / 0x80)
  }
  bytes[at++] = rest
  return at
}
