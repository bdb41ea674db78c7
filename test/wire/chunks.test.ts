import { describe, expect, test } from 'vitest'
import { createChunkReader } from '../../src/wire/chunks.ts'
import { Malformed } from '../../src/wire/wire-error.ts'

const most = 64

interface Read {
  readonly body: string
  readonly trailers: readonly string[]
  readonly done: boolean
  /** What it left for whoever reads next. */
  readonly rest: string
}

/** Reads the text in pieces that end at these places. */
function readIn(text: string, cuts: readonly number[]): Read {
  const bytes = Buffer.from(text, 'latin1')
  const reader = createChunkReader(most)
  let body = ''
  let from = 0
  for (const to of [...cuts, bytes.length]) {
    // With something in front of it, as behind a head.
    const piece = Buffer.concat([Buffer.from('##'), bytes.subarray(from, to)])
    const out = Buffer.alloc(piece.length)
    const end = reader.read(piece, 2, out)
    body += out.toString('latin1', 0, reader.written())
    from += end - 2
    if (reader.isDone()) break
    expect(end).toBe(piece.length)
  }
  return {
    body,
    trailers: reader.trailers(),
    done: reader.isDone(),
    rest: bytes.toString('latin1', from),
  }
}

const bodies: readonly [string, string, Read][] = [
  ['one chunk', '5\r\nhello\r\n0\r\n\r\n', { body: 'hello', trailers: [], done: true, rest: '' }],
  ['nothing', '0\r\n\r\n', { body: '', trailers: [], done: true, rest: '' }],
  ['zeros', '000\r\n\r\n', { body: '', trailers: [], done: true, rest: '' }],
  [
    'several, with capitals and zeros',
    'A\r\n0123456789\r\n00b\r\nabcdefghijk\r\n0\r\n\r\n',
    { body: '0123456789abcdefghijk', trailers: [], done: true, rest: '' },
  ],
  [
    'line ends and sizes within the data',
    '9\r\n\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n',
    { body: '\r\n0\r\n\r\n\r\n', trailers: [], done: true, rest: '' },
  ],
  [
    'extensions',
    '2;a=b;c="d\t\xe4\\"";e\r\nok\r\n0;last\r\n\r\n',
    { body: 'ok', trailers: [], done: true, rest: '' },
  ],
  [
    'trailers',
    '2\r\nok\r\n0\r\nX-A: b\r\nX-C:\r\n\r\n',
    { body: 'ok', trailers: ['X-A', 'b', 'X-C', ''], done: true, rest: '' },
  ],
  [
    'something behind it',
    '2\r\nok\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
    { body: 'ok', trailers: [], done: true, rest: 'HTTP/1.1 200 OK\r\n\r\n' },
  ],
  [
    'something long behind trailers',
    `0\r\nX-A: b\r\n\r\n${'x'.repeat(3 * most)}`,
    { body: '', trailers: ['X-A', 'b'], done: true, rest: 'x'.repeat(3 * most) },
  ],
  ['no end', '2\r\nok\r\n', { body: 'ok', trailers: [], done: false, rest: '' }],
  ['half a size', '2\r\nok\r\n1', { body: 'ok', trailers: [], done: false, rest: '' }],
  ['half a chunk', '5\r\nhel', { body: 'hel', trailers: [], done: false, rest: '' }],
  ['no end of its trailers', '0\r\nX-A: b\r\n', { body: '', trailers: [], done: false, rest: '' }],
]

const broken: readonly [string, string][] = [
  ['no size', '\r\nok\r\n0\r\n\r\n'],
  ['a size of letters', 'g\r\n'],
  ['a size with a sign', '+2\r\nok\r\n'],
  ['a size with a prefix', '0x2\r\nok\r\n'],
  ['a size with a space behind it', '2 \r\nok\r\n'],
  ['a size with a space before it', ' 2\r\nok\r\n'],
  ['a size with a space before its extension', '2 ;a\r\nok\r\n'],
  ['a size that no number holds', `${'f'.repeat(14)}\r\n`],
  ['a size that ends with LF', '2\nok\r\n0\r\n\r\n'],
  ['a size that ends with CR', '2\rok\r\n0\r\n\r\n'],
  ['an extension that ends with LF', '2;a\nok\r\n0\r\n\r\n'],
  ['an extension without a name', '2;\r\nok\r\n0\r\n\r\n'],
  ['an extension with a blank', '2; a=b\r\nok\r\n0\r\n\r\n'],
  ['an extension without a value', '2;a=\r\nok\r\n0\r\n\r\n'],
  ['an extension with half a quotation', '2;a="b\r\nok\r\n0\r\n\r\n'],
  ['an extension of other characters', '2;a:b\r\nok\r\n0\r\n\r\n'],
  ['an extension with NUL', '2;a\0\r\nok\r\n0\r\n\r\n'],
  ['an extension of 300 bytes', `2;${'a'.repeat(300)}\r\nok\r\n0\r\n\r\n`],
  ['a chunk that is longer than it says', '2\r\nokk\r\n0\r\n\r\n'],
  ['a chunk that is shorter than it says', '3\r\nok\r\n0\r\n\r\n'],
  ['a chunk that ends with LF', '2\r\nok\n0\r\n\r\n'],
  ['a last chunk that ends with LF', '2\r\nok\r\n0\n\r\n'],
  ['trailers that end with LF', '0\r\nX-A: b\n\r\n\r\n'],
  ['a continued trailer', '0\r\nX-A: b\r\n c\r\n\r\n'],
  ['a trailer without a name', '0\r\n: b\r\n\r\n'],
  ['a trailer with a length', '0\r\nContent-Length: 5\r\n\r\n'],
  ['a trailer with a coding', '0\r\ntransfer-encoding: chunked\r\n\r\n'],
  ['trailers with a bare CR first', '0\r\n\rX-A: b\r\n\r\n'],
  ['trailers that are too long', `0\r\nX-A: ${'b'.repeat(most)}\r\n\r\n`],
  ['trailers that are too long and go on', `0\r\nX-A: ${'b'.repeat(5 * most)}`],
]

const everyCut = (text: string) => Array.from({ length: text.length + 1 }, (_, at) => at)

describe('a body in chunks', () => {
  test.each(bodies)('is the same wherever it is cut in two: %s', (_, text, expected) => {
    for (const cut of everyCut(text)) expect([cut, readIn(text, [cut])]).toEqual([cut, expected])
  })

  test.each(bodies)('is the same byte for byte: %s', (_, text, expected) => {
    expect(readIn(text, everyCut(text).slice(1, -1))).toEqual(expected)
  })

  test('may have trailers up to the limit, wherever they are cut', () => {
    const value = 'b'.repeat(most - 'X-A: \r\n\r\n'.length)
    const text = `0\r\nX-A: ${value}\r\n\r\nrest`

    for (const cut of everyCut(text)) {
      expect(readIn(text, [cut])).toEqual({
        body: '',
        trailers: ['X-A', value],
        done: true,
        rest: 'rest',
      })
    }
  })

  test.each(broken)('is refused wherever it is cut: %s', (_, text) => {
    for (const cut of everyCut(text)) expect(() => readIn(text, [cut])).toThrow(Malformed)
  })
})
