import { readFields } from './header-fields.ts'
import { Malformed } from './wire-error.ts'

/** Decodes a chunked body (RFC 9112 7.1), however its bytes are split over reads. */
export type ChunkReader = ReturnType<typeof createChunkReader>

type Stage = 'size' | 'extension' | 'size-lf' | 'data' | 'data-cr' | 'data-lf' | 'trailers' | 'done'

/** Up to 13 hex digits, leading zeros included, fit a number exactly. */
const maxDigits = 13
/** Per chunk: otherwise each byte of a body of one-byte chunks could cost thousands. */
const maxExtension = 256

/** RFC 9112 7.1.1, without the optional white space that senders must not use. */
const extensions =
  /^(?:;[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:=(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+|"(?:[\t\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)+$/

const cr = 0x0d
const lf = 0x0a
const semicolon = 0x3b

/** `maxTrailerBytes`: for all trailers together. */
export function createChunkReader(maxTrailerBytes: number) {
  let stage: Stage = 'size'
  let size = 0
  let digits = 0
  let extension = ''
  let trailerText = ''
  let trailers: readonly string[] = []
  let written = 0

  /** Handles one byte outside of the data. */
  function step(code: number): void {
    switch (stage) {
      case 'size':
        takeSizeByte(code)
        return
      case 'extension':
        takeExtensionByte(code)
        return
      case 'size-lf':
        if (code !== lf) throw new Malformed('chunk size line without CRLF')
        stage = size === 0 ? 'trailers' : 'data'
        return
      case 'data-cr':
        if (code !== cr) throw new Malformed('chunk data longer than its size')
        stage = 'data-lf'
        return
      case 'data-lf':
        if (code !== lf) throw new Malformed('chunk data without CRLF')
        stage = 'size'
        digits = 0
        extension = ''
        return
      default:
        throw new Malformed('malformed chunk')
    }
  }

  function takeSizeByte(code: number): void {
    const digit = hexDigit(code)
    if (digit >= 0) {
      if (++digits > maxDigits) throw new Malformed('chunk size too large')
      size = size * 16 + digit
    } else if (digits > 0 && code === cr) stage = 'size-lf'
    else if (digits > 0 && code === semicolon) {
      stage = 'extension'
      extension = ';'
    } else throw new Malformed('invalid chunk size')
  }

  /** Ignored, but checked: another parser on the way may read an invalid one differently. */
  function takeExtensionByte(code: number): void {
    if (code !== cr) {
      extension += String.fromCharCode(code)
      if (extension.length > maxExtension) throw new Malformed('chunk extension too long')
    } else if (extensions.test(extension)) stage = 'size-lf'
    else throw new Malformed('invalid chunk extension')
  }

  /** Returns where the trailers end in `bytes`, or its length if they are incomplete. */
  function takeTrailers(bytes: Buffer, from: number): number {
    const before = trailerText.length
    trailerText += bytes.toString(
      'latin1',
      from,
      Math.min(bytes.length, from + maxTrailerBytes + 4),
    )
    const isEmpty = trailerText.startsWith('\r\n')
    const end = isEmpty ? 2 : trailerText.indexOf('\r\n\r\n') + 4
    if (end < 4 && !isEmpty) {
      if (trailerText.length > maxTrailerBytes) throw new Malformed('trailers too large')
      return bytes.length
    }
    if (end > maxTrailerBytes) throw new Malformed('trailers too large')
    trailers = readTrailers(trailerText.slice(0, isEmpty ? 0 : end - 4))
    stage = 'done'
    return from + end - before
  }

  return {
    /**
     * Reads `bytes` from `from` and returns where it stopped: at their end, or at the end of the body.
     * Copies data to the start of `out`; `written` is its length.
     */
    read(bytes: Buffer, from: number, out: Buffer) {
      let at = from
      written = 0
      while (at < bytes.length && stage !== 'done') {
        if (stage === 'data') {
          const end = Math.min(bytes.length, at + size)
          written += bytes.copy(out, written, at, end)
          size -= end - at
          at = end
          if (size === 0) stage = 'data-cr'
        } else if (stage === 'trailers') {
          at = takeTrailers(bytes, at)
        } else {
          step(bytes[at++] as number)
        }
        if (stage === 'size' && digits === 0) size = 0
      }
      return at
    },
    written: () => written,
    /** Whether the last chunk and the trailers have been read. */
    isDone: () => stage === 'done',
    /** Name, value, name, value … once it is done. */
    trailers: () => trailers,
  }
}

function readTrailers(text: string): readonly string[] {
  const fields: string[] = []
  readFields(text, 0, (name, value, lower) => {
    // The framing is settled by now, so a second value is an attack on another parser.
    if (lower === 'content-length' || lower === 'transfer-encoding') {
      throw new Malformed('forbidden framing field in trailers')
    }
    fields.push(name, value)
  })
  return fields
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
