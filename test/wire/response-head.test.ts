import { describe, expect, test } from 'vitest'
import { agreesTo, type Framing, readHead } from '../../src/wire/response-head.ts'
import { Malformed } from '../../src/wire/wire-error.ts'

const head = (...lines: readonly string[]) => ['HTTP/1.1 200 OK', ...lines].join('\r\n')
const status = (code: number, ...lines: readonly string[]) =>
  [`HTTP/1.1 ${code} A`, ...lines].join('\r\n')

describe('the status line', () => {
  test.each([
    ['HTTP/1.1 200 OK', 200],
    ['HTTP/1.1 200 ', 200],
    ['HTTP/1.1 200', 200],
    ['HTTP/1.0 404 Not Found', 404],
    ['HTTP/1.1 299 a\tb \xe4', 299],
    ['HTTP/1.1 999 A', 999],
  ])('%j is read', (line, code) => {
    expect(readHead(line, 'GET').status).toBe(code)
  })

  test.each([
    '',
    'HTTP/1.1',
    'HTTP/1.1 ',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 099 OK',
    'HTTP/1.1 +20 OK',
    'HTTP/1.1  200 OK',
    'HTTP/1.1\t200 OK',
    'HTTP/1.1 200\tOK',
    'HTTP/1.1 200 O\0K',
    'HTTP/1.1 200 O\rK',
    'HTTP/1.1 200 O\nK',
    'HTTP/1.1 200 OK\n',
    'HTTP/1.1 200 O\x7fK',
    'HTTP/1.2 200 OK',
    'HTTP/2.0 200 OK',
    'HTTP/1.10 200 OK',
    'HTTP/1 200 OK',
    'http/1.1 200 OK',
    ' HTTP/1.1 200 OK',
    'ICY 200 OK',
    '\r\nHTTP/1.1 200 OK',
    '\nHTTP/1.1 200 OK',
  ])('%j is none', (line) => {
    expect(() => readHead(line, 'GET')).toThrow(Malformed)
  })
})

describe('the framing', () => {
  test.each<[string, Framing, string, string]>([
    ['none, without a length', 'close', 'GET', head()],
    ['a length', 5, 'GET', head('Content-Length: 5')],
    ['a length with zeros before it', 5, 'GET', head('Content-Length: 005')],
    ['a length among blanks', 5, 'GET', head('Content-Length: \t 5 \t')],
    ['a length of nothing', 'none', 'GET', head('Content-Length: 0')],
    ['the longest', 999_999_999_999_999, 'GET', head('Content-Length: 999999999999999')],
    ['chunks', 'chunked', 'GET', head('Transfer-Encoding: chunked')],
    ['chunks, in capitals', 'chunked', 'GET', head('TRANSFER-ENCODING: Chunked')],
    ['HEAD with a length', 'none', 'HEAD', head('Content-Length: 5')],
    ['HEAD with chunks', 'none', 'HEAD', head('Transfer-Encoding: chunked')],
    ['HEAD with nothing', 'none', 'HEAD', head()],
    ['204', 'none', 'GET', status(204)],
    ['204 with a length', 'none', 'GET', status(204, 'Content-Length: 5')],
    ['304 with a length', 'none', 'GET', status(304, 'Content-Length: 5')],
    ['304 with chunks', 'none', 'GET', status(304, 'Transfer-Encoding: chunked')],
    ['205, which is like any other', 'close', 'GET', status(205)],
    ['205 with a length', 5, 'GET', status(205, 'Content-Length: 5')],
    ['an interim answer', 'none', 'GET', status(103, 'Link: </a>')],
    ['an interim answer with a length of nothing', 'none', 'GET', status(100, 'Content-Length: 0')],
    ['HTTP/1.0 with a length', 5, 'GET', 'HTTP/1.0 200 OK\r\nContent-Length: 5'],
  ])('is read: %s', (_, framing, method, text) => {
    expect(readHead(text, method).framing).toBe(framing)
  })

  test.each([
    ['two lengths', head('Content-Length: 5', 'Content-Length: 6')],
    ['the same length twice', head('Content-Length: 5', 'content-length: 5')],
    ['a list of lengths', head('Content-Length: 5, 5')],
    ['a length with a sign', head('Content-Length: +5')],
    ['a negative length', head('Content-Length: -5')],
    ['an empty length', head('Content-Length:')],
    ['a length of letters', head('Content-Length: five')],
    ['a length in hexadecimal', head('Content-Length: 0x5')],
    ['a length with a fraction', head('Content-Length: 5.0')],
    ['a length with an exponent', head('Content-Length: 5e0')],
    ['a length with a space in it', head('Content-Length: 5 5')],
    ['a length with an underscore', head('Content-Length: 5_0')],
    ['a length of other digits', head('Content-Length: \xb2')],
    ['a length that no number holds', head(`Content-Length: ${'9'.repeat(16)}`)],
    ['both framings', head('Content-Length: 5', 'Transfer-Encoding: chunked')],
    ['both framings, the other way', head('Transfer-Encoding: chunked', 'Content-Length: 0')],
    ['two codings', head('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')],
    ['a list of codings', head('Transfer-Encoding: gzip, chunked')],
    ['chunks twice', head('Transfer-Encoding: chunked, chunked')],
    ['chunks and not last', head('Transfer-Encoding: chunked, gzip')],
    ['another coding', head('Transfer-Encoding: gzip')],
    ['identity', head('Transfer-Encoding: identity')],
    ['a coding with a parameter', head('Transfer-Encoding: chunked;a=b')],
    ['a coding in quotes', head('Transfer-Encoding: "chunked"')],
    ['a coding with a vertical tab', head('Transfer-Encoding: \x0bchunked')],
    ['no coding', head('Transfer-Encoding:')],
    ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked'],
    ['an interim answer with a body', status(103, 'Content-Length: 5')],
    ['an interim answer that closes', status(103, 'Connection: close')],
    ['an interim answer of HTTP/1.0', 'HTTP/1.0 100 Continue'],
    ['an interim answer in chunks', status(100, 'Transfer-Encoding: chunked')],
  ])('is refused: %s', (_, text) => {
    expect(() => readHead(text, 'GET')).toThrow(Malformed)
    expect(() => readHead(text, 'HEAD')).toThrow(Malformed)
  })
})

describe('whether another request may follow', () => {
  const sized = 'Content-Length: 5'

  test.each<[string, boolean, string]>([
    ['HTTP/1.1', true, head(sized)],
    ['HTTP/1.1 that keeps it', true, head(sized, 'Connection: keep-alive')],
    ['HTTP/1.1 that closes', false, head(sized, 'Connection: close')],
    ['HTTP/1.1 that CLOSES', false, head(sized, 'CONNECTION: CLOSE')],
    ['a close in a list', false, head(sized, 'Connection: X-A , close')],
    ['a close in another line', false, head(sized, 'Connection: keep-alive', 'Connection: close')],
    ['a name that only contains it', true, head(sized, 'Connection: not-close')],
    ['the end of the connection as the end of the body', false, head('Connection: keep-alive')],
    ['HTTP/1.0', false, 'HTTP/1.0 200 OK\r\nContent-Length: 5'],
    [
      'HTTP/1.0 that keeps it',
      true,
      'HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: Keep-Alive',
    ],
    ['204 with a length', false, status(204, 'Content-Length: 5')],
    ['204 with chunks', false, status(204, 'Transfer-Encoding: chunked')],
    ['204 with a length of nothing', true, status(204, 'Content-Length: 0')],
    ['304 with a length', true, status(304, 'Content-Length: 5')],
  ])('depends on version, Connection and length: %s is %s', (_, persistent, text) => {
    expect(readHead(text, 'GET').persistent).toBe(persistent)
  })

  test.each<[string, number | undefined]>([
    ['timeout=5', 5],
    ['timeout=5, max=100', 5],
    ['max=100, Timeout=7', 7],
    ['timeout=0', 0],
    ['timeout=999999', 999_999],
    ['timeout=9999999', undefined],
    ['timeout=-1', undefined],
    ['timeout=', undefined],
    ['timeout=5s', undefined],
    ['notimeout=5', undefined],
    ['', undefined],
  ])('Keep-Alive: %j is %s seconds', (value, seconds) => {
    expect(readHead(head(`Keep-Alive: ${value}`), 'GET').keepAliveSeconds).toBe(seconds)
  })

  test.each<[string, string | undefined, readonly string[]]>([
    ['nothing', undefined, []],
    ['keep-alive', undefined, ['Connection: keep-alive']],
    ['close', undefined, ['Connection: Close']],
    ['a name', 'X-A', ['Connection: X-A']],
    ['names in two lines', 'close,X-A', ['Connection: close', 'Connection: X-A']],
  ])('names that are for this connection only are told: %s', (_, listed, lines) => {
    expect(readHead(head(...lines), 'GET').listed).toBe(listed)
  })
})

describe('header lines', () => {
  test.each<[string, readonly string[]]>([
    ['A: b', ['A', 'b']],
    ['A:b', ['A', 'b']],
    ['A:', ['A', '']],
    ['A: \t', ['A', '']],
    ['A: \t b c \t', ['A', 'b c']],
    ['A: b:c', ['A', 'b:c']],
    ["!#$%&'*+-.^_`|~09azAZ: b", ["!#$%&'*+-.^_`|~09azAZ", 'b']],
    ['A: \xa0b\xff', ['A', '\xa0b\xff']],
    ['A: b\r\nA: c\r\na: d', ['A', 'b', 'A', 'c', 'a', 'd']],
    ['__proto__: b\r\nconstructor: c', ['__proto__', 'b', 'constructor', 'c']],
  ])('%j are read', (lines, pairs) => {
    expect(readHead(head(lines), 'GET').headers).toEqual(pairs)
  })

  test.each([
    'A',
    ': b',
    ' : b',
    'A : b',
    'A\t: b',
    ' A: b',
    'A B: c',
    'A: b\r\n c',
    'A: b\r\n\tc',
    'A: b\nB: c',
    'A: b\rB: c',
    'A: b\r',
    'A: \nb',
    'A: b\0',
    'A: b\x7f',
    'A: b\x1f',
    'A\0: b',
    '\xc4: b',
    'A\r\n: b',
    '(A): b',
    'A;: b',
    '"A": b',
    'A\xa0: b',
  ])('%j are refused', (lines) => {
    expect(() => readHead(head(lines), 'GET')).toThrow(Malformed)
  })
})

describe('a switch of protocols', () => {
  const switched = (...lines: readonly string[]) => readHead(status(101, ...lines), 'GET')

  test.each([
    ['Connection: Upgrade', 'Upgrade: websocket'],
    ['connection: keep-alive, UPGRADE', 'upgrade: WebSocket'],
  ])('is the one that was asked for: %s', (...lines) => {
    expect(agreesTo(switched(...lines), 'websocket')).toBe(true)
  })

  test.each([
    ['Connection: Upgrade', 'Upgrade: h2c'],
    ['Connection: Upgrade', 'Upgrade: websocket', 'Upgrade: h2c'],
    ['Connection: Upgrade', 'Upgrade: websocket, h2c'],
    ['Connection: Upgrade'],
    ['Connection: keep-alive', 'Upgrade: websocket'],
    ['Upgrade: websocket'],
    ['Connection: upgrade', 'X-A: upgrade', 'Websocket: websocket'],
  ])('is another one: %s', (...lines) => {
    expect(agreesTo(switched(...lines), 'websocket')).toBe(false)
  })

  test('is none when nobody asked', () => {
    expect(agreesTo(switched('Connection: Upgrade', 'Upgrade: websocket'), undefined)).toBe(false)
  })
})
