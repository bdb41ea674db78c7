import { isAscii } from 'node:buffer'
import { type DecisionRecord, type NoRecord, readLine, readOwnLine } from './record.ts'

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
