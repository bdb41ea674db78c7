import fc from 'fast-check'

/** Requests to be sent ahead of their answers: good ones, odd ones and broken ones. */

const evil = 'GET /evil HTTP/1.1\r\nHost: a\r\n\r\n'
const target = fc
  .tuple(fc.constantFrom('/early', '/late', '/slow'), fc.nat({ max: 999 }))
  .map(([kind, at]) => `${kind}/${at}`)
const bodyText = fc.oneof(
  fc.constantFrom('', 'a', evil, `\r\n\r\n${evil}`, `0\r\n\r\n${evil}`, '\r\n', '\r\n\r\n', '\n\n'),
  fc
    .array(fc.constantFrom('\r', '\n', '\r\n', '0', 'a', '5\r\n', evil), { maxLength: 12 })
    .map((all) => all.join('')),
  fc.nat({ max: 3000 }).map((length) => 'x'.repeat(length)),
)
const header = fc.constantFrom(
  'Accept: */*',
  'X-Empty:',
  'X-A: b',
  'Connection: keep-alive',
  'TE: trailers',
)
const oddHeader = fc.constantFrom(
  'Connection: close',
  'Connection: keep-alive, close',
  'Expect: 100-continue',
  'Expect: 200-odd',
  'Upgrade: h2c',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings',
  'Content-Length: 3',
  'Content-Length: 0',
  'Content-Length: 03',
  'Content-Length: +3',
  'Content-Length: 3 ',
  'Content-Length: 3, 3',
  'Content-Length : 3',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: identity',
  'Transfer-Encoding:\x0bchunked',
  'Transfer-Encoding: xchunked',
  'X-A: a\r\n b',
  'X-A: a\r\n\tb',
  'X-A: a\nX-B: b',
  'X-A: a\r\r\nX-B: b',
  'X-A: a\0b',
  ' X-A: b',
  'X A: b',
  ...[19, 20, 40].map((count) =>
    Array.from({ length: count }, (_, at) => `X-${at}: a`).join('\r\n'),
  ),
  `X-Long: ${'a'.repeat(5000)}`,
)
const chunkExtension = fc.constantFrom('', '', '', ';a', ';a=b', ';a="b;c"')
const chunkSize = (length: number) =>
  fc.constantFrom(length.toString(16), length.toString(16).toUpperCase(), `0${length.toString(16)}`)
const trailer = fc.constantFrom('', '', 'X-T: a\r\n', 'X-T: a\r\nX-U:\r\n')

interface Framed {
  readonly fields: readonly string[]
  readonly content: string
  readonly body: string
}
const sized = bodyText.map(
  (text): Framed => ({ fields: [`Content-Length: ${text.length}`], content: text, body: text }),
)
const chunked = fc
  .tuple(fc.array(fc.tuple(bodyText, chunkExtension), { maxLength: 4 }), trailer)
  .chain(([parts, end]) => {
    const full = parts.filter(([text]) => text !== '')
    return fc.tuple(...full.map(([text]) => chunkSize(text.length))).map((sizes): Framed => {
      const chunks = full.map(([text, extension], at) => `${sizes[at]}${extension}\r\n${text}\r\n`)
      return {
        fields: ['Transfer-Encoding: chunked'],
        content: `${chunks.join('')}0\r\n${end}\r\n`,
        body: full.map(([text]) => text).join(''),
      }
    })
  })
const bodiless = fc.constant<Framed>({ fields: [], content: '', body: '' })

/** One that can be read in one way only, and what it is read as. */
export interface GoodRequest {
  readonly line: string
  readonly body: string
  readonly text: string
}

const goodRequest = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'),
    target,
    headers: fc.array(header, { maxLength: 3 }),
    framed: fc.oneof(bodiless, sized, chunked),
    before: fc.constantFrom('', '', '', '\r\n', '\r\n\r\n'),
  })
  .map(({ method, target, headers, framed, before }): GoodRequest => {
    const line = `${method} ${target}`
    const fields = ['Host: gateway.test', ...headers, ...framed.fields]
    const head = [`${line} HTTP/1.1`, ...fields, '', ''].join('\r\n')
    return { line, body: framed.body, text: before + head + framed.content }
  })
const good = goodRequest.map(({ text }) => text)

const odd = fc
  .record({
    line: fc.oneof(
      target.map((at) => `POST ${at} HTTP/1.1`),
      target.map((at) => `GET ${at} HTTP/1.1`),
      target.map((at) => `POST ${at} HTTP/1.0`),
      fc.constantFrom(
        'GET /late/x HTTP/1.1 ',
        'GET  /late/x HTTP/1.1',
        'GET /late/x\tHTTP/1.1',
        'GET /late/x HTTP/2.0',
        'PRI * HTTP/2.0',
        'CONNECT a:1 HTTP/1.1',
        'OPTIONS * HTTP/1.1',
        '\0',
      ),
    ),
    before: fc.array(header, { maxLength: 2 }),
    odd: oddHeader,
    framed: fc.oneof(bodiless, sized, chunked),
    after: fc.array(header, { maxLength: 2 }),
    ending: fc.constantFrom('\r\n', '\r\n', '\r\n', '\n'),
  })
  .map(
    ({ line, before, odd, framed, after, ending }) =>
      [line, ...before, odd, ...framed.fields, ...after, '', ''].join(ending) + framed.content,
  )

/** One character of a good one is another, missing, or there twice. */
const spoiled = fc
  .tuple(good, fc.nat(), fc.constantFrom('', '\r', '\n', '\0', '0', ' ', ':', 'f', '\r\n', '\x7f'))
  .map(([text, place, instead]) => {
    const at = place % text.length
    return text.slice(0, at) + instead + text.slice(at + 1)
  })

/** Several, one behind the other. */
export const pipeline = fc
  .array(
    fc.oneof(
      { weight: 30, arbitrary: good },
      { weight: 2, arbitrary: odd },
      { weight: 1, arbitrary: spoiled },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          'GET /late/plain HTTP/1.1\r\nHost: a\r\n\r\n',
          '\r\n',
          '\0garbage\r\n\r\n',
        ),
      },
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((all) => Buffer.from(all.join(''), 'latin1'))

/** Several that all get a response. */
export const goodPipeline = fc.array(goodRequest, { minLength: 1, maxLength: 8 })

/** Where to cut them apart, as shares of their length. */
export const cuts = fc.oneof(
  fc.constant<readonly number[]>([]),
  fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
)

/** The pieces that this gives. */
export function cutAt(bytes: Buffer, shares: readonly number[]): readonly Buffer[] {
  const places = [...new Set(shares.map((share) => Math.floor(share * bytes.length)))]
  const at = places.sort((one, other) => one - other)
  return [0, ...at]
    .map((from, index) => bytes.subarray(from, at[index] ?? bytes.length))
    .filter(({ length }) => length > 0)
}
