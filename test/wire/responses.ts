import fc from 'fast-check'
import { createResponseReader, type Progress } from '../../src/wire/response-reader.ts'
import { Malformed } from '../../src/wire/wire-error.ts'

/** Bytes of a server, as Latin-1, and the method that they answer. */
export interface Played {
  readonly method: string
  readonly text: string
}

/** What our reader makes of bytes, however they were cut. */
export interface ReadAnswer {
  readonly status: number | undefined
  readonly headers: readonly string[]
  readonly body: string
  readonly trailers: readonly string[]
  /** `end`: the end of the connection would be the end of it. */
  readonly how: 'over' | 'end' | 'unfinished' | 'malformed'
  readonly persistent: boolean
  /** How many bytes belong to it. */
  readonly length: number
}

/** Reads in pieces that end at these places. Throws whatever is thrown besides Malformed. */
export function readAnswer({ method, text }: Played, cuts: readonly number[] = []): ReadAnswer {
  const bytes = Buffer.from(text, 'latin1')
  const bodies: Buffer[] = []
  const reader = createResponseReader({
    complete: (_, body) => void bodies.push(Buffer.from(body, 'latin1')),
    head: () => {},
    data: (chunk) => void bodies.push(chunk),
    switched: () => {},
  })
  const places = [...new Set([...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])]
  let progress: Progress = 'more'
  let from = 0
  let malformed = false
  reader.begin(method, undefined)
  try {
    for (const to of places.sort((a, b) => a - b)) {
      if (to === from || progress !== 'more') continue
      // What was handed over is overwritten afterwards, as on a real connection.
      const piece = Buffer.from(bytes.subarray(from, to))
      progress = reader.read(piece)
      piece.fill('#')
      from = to
    }
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    malformed = true
  }
  const head = malformed ? undefined : reader.lastHead()
  const unfinished = reader.endsHere() ? 'end' : 'unfinished'
  return {
    status: head?.status,
    headers: head?.headers ?? [],
    body: malformed ? '' : Buffer.concat(bodies).toString('latin1'),
    trailers: malformed ? [] : reader.trailers(),
    how: malformed ? 'malformed' : progress === 'more' ? unfinished : 'over',
    persistent: head?.persistent ?? false,
    length: progress === 'more' ? bytes.length : lengthOf(bytes, method),
  }
}

/** The shortest beginning that is a whole answer. */
function lengthOf(bytes: Buffer, method: string): number {
  const reader = createResponseReader({
    complete() {},
    head() {},
    data() {},
    switched() {},
  })
  reader.begin(method, undefined)
  let at = 0
  while (at < bytes.length && reader.read(Buffer.from([bytes[at++] as number])) === 'more');
  return at
}

const character = fc
  .integer({ min: 0x20, max: 0xff })
  .map((code) => (code >= 0x7f && code < 0xa1 ? '\t' : String.fromCharCode(code)))
const value = fc
  .string({ unit: character, maxLength: 12 })
  .map((text) => text.replace(/^[ \t]+|[ \t]+$/g, ''))
const name = fc.oneof(
  fc.constantFrom('Date', 'Set-Cookie', 'Content-Type', 'Vary', 'ETag', '__proto__'),
  fc
    .string({ unit: fc.constantFrom(..."abzAZ09-_.!#$%&'*+^`|~"), minLength: 1, maxLength: 8 })
    .map((text) => `X-${text}`),
)
const blank = fc.constantFrom('', ' ', '\t', ' \t ')
const field = fc
  .tuple(name, blank, value, blank)
  .map(([key, before, text, after]) => `${key}:${before}${text}${after}`)
const fields = fc.array(field, { maxLength: 4 })
const aboutConnection = fc.constantFrom<readonly string[]>(
  [],
  [],
  ['Connection: keep-alive'],
  ['Connection: close'],
  ['Connection: X-Hop'],
  ['Keep-Alive: timeout=5'],
)
const reason = fc.oneof(
  fc.constantFrom(' OK', ' ', ''),
  value.map((text) => ` ${text}`),
)
const data = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  fc.constantFrom(
    'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil',
    '\r\n',
    '0\r\n\r\n',
    'x'.repeat(20_000),
  ),
)
const interim = fc
  .tuple(fc.constantFrom(100, 102, 103), fields)
  .map(([status, lines]) => [`HTTP/1.1 ${status} A`, ...lines, '', ''].join('\r\n'))

type Body = { readonly lines: readonly string[]; readonly text: string; readonly status?: number }

const extension = fc.constantFrom('', '', ';a', ';a=b', ';a=b;c="d e"')
const sized: fc.Arbitrary<Body> = data.map((text) => ({
  lines: [`Content-Length: ${text.length}`],
  text,
}))
const chunked: fc.Arbitrary<Body> = fc
  .tuple(fc.array(fc.tuple(data, extension, fc.boolean()), { maxLength: 4 }), extension, fields)
  .map(([chunks, last, trailers]) => ({
    lines: ['Transfer-Encoding: chunked'],
    text: [
      ...chunks
        .filter(([piece]) => piece !== '')
        .map(([piece, more, padded]) => {
          const size = piece.length.toString(16)
          return `${padded ? `0${size.toUpperCase()}` : size}${more}\r\n${piece}\r\n`
        }),
      `0${last}\r\n${trailers.map((line) => `${line}\r\n`).join('')}\r\n`,
    ].join(''),
  }))
const toTheEnd: fc.Arbitrary<Body> = data.map((text) => ({ lines: [], text }))
const bodiless: fc.Arbitrary<Body> = fc.constantFrom<Body>(
  { lines: [], text: '', status: 204 },
  { lines: ['Content-Length: 5'], text: '', status: 304 },
  { lines: ['Transfer-Encoding: chunked'], text: '', status: 304 },
  { lines: ['Content-Length: 0'], text: '' },
)

/** Answers that any client takes, of every framing, some behind interim ones. */
export const validAnswer: fc.Arbitrary<Played> = fc
  .record({
    method: fc.constantFrom('GET', 'GET', 'POST', 'HEAD'),
    before: fc.array(interim, { maxLength: 2 }),
    version: fc.constantFrom('1.1', '1.1', '1.1', '1.0'),
    status: fc.constantFrom(200, 201, 205, 206, 404, 500, 599),
    reason,
    fields,
    aboutConnection,
    body: fc.oneof(sized, chunked, toTheEnd, bodiless),
  })
  .map(({ method, before, version, status, body, ...rest }) => {
    const spoken = body.lines.some((line) => line.startsWith('Transfer')) ? '1.1' : version
    const lines = [...rest.fields, ...body.lines, ...rest.aboutConnection]
    const head = [`HTTP/${spoken} ${body.status ?? status}${rest.reason}`, ...lines, '', ''].join(
      '\r\n',
    )
    return { method, text: before.join('') + head + (method === 'HEAD' ? '' : body.text) }
  })

const oddities = [
  ...[
    '\r',
    '\n',
    '\0',
    ' ',
    '\t',
    ':',
    ';',
    ',',
    '0',
    '5',
    'a',
    '-',
    '+',
    '"',
    '\x7f',
    '\xff',
    '\x0b',
    '\x85',
  ],
  ...[
    '\r\n',
    '\r\n\r\n',
    '\n\n',
    '\r\n ',
    '0x',
    '0\r\n',
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 100 A\r\n\r\n',
  ],
  ...[
    'Content-Length: 3\r\n',
    'Content-Length: 3\n',
    'Transfer-Encoding: chunked\r\n',
    ' chunked',
    'chunked, ',
    ', chunked',
  ],
]

/** A valid answer in which a few places were changed. */
export const spoiledAnswer: fc.Arbitrary<Played> = fc
  .tuple(
    validAnswer.filter(({ text }) => text.length < 1000),
    fc.array(fc.tuple(fc.nat(), fc.nat(4), fc.constantFrom('', ...oddities)), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([{ method, text }, changes]) => ({
    method,
    text: changes.reduce((changed, [place, length, piece]) => {
      // Most of what matters stands in the head.
      const at = place % Math.min(changed.length + 1, 160)
      return changed.slice(0, at) + piece + changed.slice(at + length)
    }, text),
  }))
