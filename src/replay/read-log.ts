import { isAscii } from 'node:buffer'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { chunkBytes, type LogSource } from './log-source.ts'
import { type DecisionRecord, type NoRecord, readLine, readOwnLine } from './record.ts'

/**
 * Passes on the bytes of a log, decompressed if it starts as gzip does, whatever its name. Returns why the
 * rest cannot be read; `undefined` when all was.
 */
export async function readLog(
  { open }: LogSource,
  push: (bytes: Uint8Array) => void,
  onRead: (bytes: number) => void,
): Promise<string | undefined> {
  const raw = counted(open(), onRead)
  let start: Uint8Array
  try {
    start = await firstBytes(raw, 2)
  } catch (error) {
    return messageOf(error)
  }
  if (start[0] === 0x1f && start[1] === 0x8b) return decompress(joined(start, raw), push)
  push(start)
  return readPlain(raw, push)
}

async function readPlain(
  raw: AsyncGenerator<Uint8Array>,
  push: (bytes: Uint8Array) => void,
): Promise<string | undefined> {
  for (;;) {
    let next: IteratorResult<Uint8Array>
    try {
      next = await raw.next()
    } catch (error) {
      return messageOf(error)
    }
    if (next.done === true) return undefined
    push(next.value)
  }
}

/**
 * By events, and with an end that comes after the last bytes: otherwise zlib discards all that it
 * decompressed from those when the end of the file is missing.
 */
async function decompress(
  raw: AsyncIterable<Uint8Array>,
  push: (bytes: Uint8Array) => void,
): Promise<string | undefined> {
  const gunzip = createGunzip({ chunkSize: chunkBytes }).on('data', push)
  const ended = finished(gunzip).then(() => undefined, messageOf)
  try {
    for await (const bytes of raw) {
      // After an error, the stream does not call back.
      if (gunzip.destroyed) break
      await written(gunzip, bytes)
    }
    gunzip.end()
  } catch (error) {
    gunzip.destroy()
    return messageOf(error)
  }
  return ended
}

function written(stream: Writable, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    stream.once('close', resolve)
    stream.write(bytes, () => {
      stream.off('close', resolve)
      resolve()
    })
  })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

async function* counted(
  bytes: AsyncIterable<Uint8Array>,
  onRead: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    onRead(chunk.length)
    yield chunk
  }
}

/** At least this many bytes, unless there are fewer. */
async function firstBytes(bytes: AsyncGenerator<Uint8Array>, atLeast: number): Promise<Uint8Array> {
  let start: Uint8Array = new Uint8Array(0)
  while (start.length < atLeast) {
    const next = await bytes.next()
    if (next.done === true) break
    start = start.length === 0 ? next.value : Buffer.concat([start, next.value])
  }
  return start
}

async function* joined(
  start: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield start
  yield* rest
}

/** Where the lines of one log go, in order. Empty lines go nowhere. */
interface LineSink {
  readonly record: (record: DecisionRecord) => void
  readonly noRecord: (found: NoRecord, line: number) => void
}

/** The size at which matching is fastest: the text stays in the cache of the processor. */
const pieceBytes = 64 * 1024
/** Far above a line of a gateway, whose paths have at most some thousand characters. */
const maxOwnLine = 16 * 1024
const maxLine = 1024 * 1024

/**
 * Finds the decisions in the bytes of a log, in constant memory. The bytes become text of one character
 * each: only a line with other characters than ASCII is decoded as UTF-8.
 */
export function createLineReader({ record, noRecord }: LineSink) {
  let rest = ''
  let line = 0
  let isSkipping = false
  /** Whether `rest` and the current piece are ASCII. */
  let isPlain = true

  function take(text: string): void {
    let at = 0
    for (;;) {
      const end = text.indexOf('\n', at)
      if (end === -1) break
      if (isSkipping) isSkipping = false
      else {
        line++
        const own = end - at < maxOwnLine ? readOwnLine(text, at, end) : undefined
        if (own !== undefined) record(own)
        else readOther(text.slice(at, end))
      }
      at = end + 1
    }
    rest = isSkipping ? '' : text.slice(at)
    if (rest.length > maxLine) {
      noRecord({ damage: 'a line of more than 1 MiB' }, ++line)
      isSkipping = true
      rest = ''
    }
  }

  function readOther(raw: string): void {
    const decoded = isPlain ? raw : decode(raw)
    if (decoded === undefined) noRecord({ damage: 'not UTF-8' }, line)
    else if (decoded.trim() !== '') {
      const found = readLine(decoded)
      if (typeof found === 'string' || 'damage' in found) noRecord(found, line)
      else record(found)
    }
  }

  return {
    push(bytes: Uint8Array) {
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      for (let at = 0; at < buffer.length; at += pieceBytes) {
        const piece = buffer.subarray(at, at + pieceBytes)
        isPlain = isAscii(piece) && (isPlain || rest === '')
        take(rest + piece.toString('latin1'))
      }
    },
    /** Reads the last line, which may lack its line break. */
    end() {
      if (rest !== '') take(`${rest}\n`)
    },
    /** The number of lines so far. */
    lines: () => line,
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Without a byte-order mark. `undefined`: a role with another name must not be asked. */
function decode(raw: string): string | undefined {
  try {
    return utf8.decode(Buffer.from(raw, 'latin1'))
  } catch {
    return undefined
  }
}
