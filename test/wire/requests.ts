import fc from 'fast-check'

/** Requests as plain clients send them, and the same with something wrong or odd about them. */

const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/)
const value = fc.stringMatching(/^[!-~]([ -~\t]{0,20}[!-~])?$/)
const target = fc.stringMatching(/^\/[A-Za-z0-9\-._~!$&'()*+,;=:@/?%]{0,30}$/)
const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS')
const body = fc.oneof({ weight: 3, arbitrary: fc.constant('') }, fc.string({ maxLength: 40 }))

const usualHeader = fc.constantFrom(
  'Host: gateway.test',
  'Connection: keep-alive',
  'Connection: Keep-Alive',
  'Accept: */*',
  'User-Agent: a (b; c) d/1.0',
  'Cookie: a=b; c=d',
)
const madeUpHeader = fc.tuple(token, value).map(([name, text]) => `${name}: ${text}`)

const parts = fc.record({
  method,
  target,
  headers: fc.array(fc.oneof(usualHeader, madeUpHeader), { maxLength: 8 }),
  body,
})

/** One whole request. */
export const validRequest = parts.map((given) => {
  const length = given.body === '' ? [] : [`Content-Length: ${Buffer.byteLength(given.body)}`]
  return text(given.method, given.target, [...given.headers, ...length], given.body)
})

/** What parsers have read in more than one way, or what asks for more than an answer. */
const oddHeader = fc.constantFrom(
  'Content-Length: 0',
  'Content-Length: 1',
  'Content-Length: 01',
  'Content-Length: +1',
  'Content-Length: 1, 1',
  'Content-Length:',
  'Content-Length : 1',
  'Transfer-Encoding: chunked',
  'transfer-encoding: identity',
  'Transfer-Encoding:\tchunked',
  'Transfer_Encoding: chunked',
  'Connection: close',
  'Connection: keep-alive, close',
  'Connection: upgrade',
  'Proxy-Connection: close',
  'Upgrade: websocket',
  'Expect: 100-continue',
  'TE: trailers',
  'Trailer: X',
  'X-A: a\r\n b',
  'X-A: a\rb',
  'X-A: a\nX-B: b',
  'X-A: a\0b',
  'X-A: \xe9',
  'X-A:a',
  'X-A:  a',
  'X-A: a ',
  'X-A: ',
  'X A: a',
  ': a',
  'X-A',
  '',
)
const oddLine = fc.constantFrom(
  'GET / HTTP/1.0',
  'GET / HTTP/1.1 ',
  'GET  / HTTP/1.1',
  'GET /a b HTTP/1.1',
  'GET http://other.test/ HTTP/1.1',
  'GET * HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'HEAD / HTTP/1.1',
  'get / HTTP/1.1',
  'GET /#a HTTP/1.1',
  'GET /\xe9 HTTP/1.1',
  'GET / http/1.1',
  'GET / HTTP/2.0',
  'CONNECT a:1 HTTP/1.1',
  '\r\nGET / HTTP/1.1',
  'GET /',
)

/** Something that most parsers refuse, or that some do. */
export const oddRequest = fc.oneof(
  parts.chain(({ headers, ...given }) =>
    fc.tuple(oddHeader, fc.nat({ max: headers.length })).map(([odd, at]) => {
      const all = [...headers.slice(0, at), odd, ...headers.slice(at)]
      return text(given.method, given.target, all, given.body)
    }),
  ),
  fc.tuple(oddLine, fc.array(usualHeader, { maxLength: 3 })).map(([line, headers]) => {
    return [line, ...headers, '', ''].join('\r\n')
  }),
  // One character of a good one is another, gone, or there twice.
  fc
    .tuple(validRequest, fc.nat(), fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 1, 2))
    .map(([good, place, code, kept]) => {
      const at = place % good.length
      const instead =
        kept === 2 ? good.charAt(at).repeat(2) : String.fromCharCode(code).repeat(kept)
      return good.slice(0, at) + instead + good.slice(at + 1)
    }),
  fc
    .tuple(validRequest, fc.string({ unit: 'binary-ascii', minLength: 1 }))
    .map(([good, more]) => good + more),
  fc.tuple(validRequest, validRequest).map(([one, other]) => one + other),
)

function text(method: string, target: string, headers: readonly string[], body: string): string {
  const bytes = Buffer.from(body).toString('latin1')
  return [`${method} ${target} HTTP/1.1`, ...headers, '', bytes].join('\r\n')
}
