import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPlainRequest } from '../../src/http/plain/plain-request.ts'
import { corpusText } from '../support/corpora.ts'
import { oddRequest, validRequest } from './requests.ts'

interface Read {
  readonly method: string | undefined
  readonly target: string | undefined
  readonly headers: readonly string[]
  readonly body: string
}

function readByUs(
  text: string,
  { headerBytes = 16_384, headerCount = 100 } = {},
): Read | undefined {
  const bytes = Buffer.from(text, 'latin1')
  const plain = readPlainRequest(bytes, { headerBytes, headerCount })
  if (plain === undefined) return undefined
  const { method, target, headers, bodyAt, end } = plain
  return { method, target, headers, body: bytes.toString('latin1', bodyAt, end) }
}

const behind = fc.oneof(fc.constant(''), validRequest, oddRequest)
const simple = 'GET /a HTTP/1.1\r\nHost: b\r\n\r\n'

describe('a plain request', () => {
  test('is read', () => {
    expect(
      readByUs('POST /a?b=%20 HTTP/1.1\r\nHost: b\r\nX-Y: c d\r\nContent-Length: 2\r\n\r\nok'),
    ).toEqual({
      method: 'POST',
      target: '/a?b=%20',
      headers: ['Host', 'b', 'X-Y', 'c d', 'Content-Length', '2'],
      body: 'ok',
    })
  })

  test('may have no header', () => {
    expect(readByUs('GET / HTTP/1.1\r\n\r\n')?.headers).toEqual([])
  })

  test.each([
    ['a piece', simple.slice(0, -1)],
    ['nothing', ''],
    ['less of a body than announced', 'POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab'],
    ['two lengths', 'POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na'],
    ['a length that begins with 0', 'POST / HTTP/1.1\r\nContent-Length: 01\r\n\r\na'],
    ['a length of another kind', 'POST / HTTP/1.1\r\nContent-Length: 0x1\r\n\r\na'],
    ['chunks', 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a name in other letters', 'POST / HTTP/1.1\r\ntRANSFER-eNCODING: chunked\r\n\r\n'],
    ['an upgrade', 'GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n'],
    ['an expectation', 'POST / HTTP/1.1\r\nExpect: 100-continue\r\n\r\n'],
    ['the end of the connection', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['a name in Connection', 'GET / HTTP/1.1\r\nConnection: keep-alive, x-y\r\n\r\n'],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
    ['a target with a host', 'GET http://a/ HTTP/1.1\r\n\r\n'],
    ['an asterisk', 'OPTIONS * HTTP/1.1\r\n\r\n'],
    ['HEAD', 'HEAD / HTTP/1.1\r\n\r\n'],
    ['a fragment', 'GET /#a HTTP/1.1\r\n\r\n'],
    ['a backslash', 'GET /a\\b HTTP/1.1\r\n\r\n'],
    ['a byte beyond ASCII in the target', 'GET /\xe9 HTTP/1.1\r\n\r\n'],
    ['a byte beyond ASCII in a value', 'GET / HTTP/1.1\r\nX: \xe9\r\n\r\n'],
    ['a bare LF', 'GET / HTTP/1.1\nHost: b\n\n'],
    ['a bare LF within', 'GET / HTTP/1.1\r\nX: a\nY: b\r\n\r\n'],
    ['a bare CR', 'GET / HTTP/1.1\r\nX: a\rb\r\n\r\n'],
    ['a CR before the end', 'GET / HTTP/1.1\r\nX: a\r\r\n\r\n'],
    ['a folded line', 'GET / HTTP/1.1\r\nX: a\r\n b\r\n\r\n'],
    ['NUL', 'GET / HTTP/1.1\r\nX: a\0b\r\n\r\n'],
    ['a line without a colon', 'GET / HTTP/1.1\r\nX\r\nY: b\r\n\r\n'],
    ['no name', 'GET / HTTP/1.1\r\n: b\r\n\r\n'],
    ['a space in a name', 'GET / HTTP/1.1\r\nX : b\r\n\r\n'],
    ['no value', 'GET / HTTP/1.1\r\nX:\r\n\r\n'],
    ['no space', 'GET / HTTP/1.1\r\nX:b\r\n\r\n'],
    ['two spaces', 'GET / HTTP/1.1\r\nX:  b\r\n\r\n'],
    ['a tab', 'GET / HTTP/1.1\r\nX:\tb\r\n\r\n'],
    ['a space at the end', 'GET / HTTP/1.1\r\nX: b \r\n\r\n'],
    ['a line before it', '\r\nGET / HTTP/1.1\r\n\r\n'],
    ['a space before it', ' GET / HTTP/1.1\r\n\r\n'],
  ])('is not %s', (_, text) => {
    expect(readByUs(text)).toBeUndefined()
  })

  test.each([
    ['another one', 'GET /b HTTP/1.1\r\n\r\n'],
    ['a byte', 'x'],
    ['a body that it does not announce', '\r\n\r\nab'],
  ])('ends before %s behind it', (_, behind) => {
    const one = 'POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\na'
    expect(readByUs(one + behind)).toEqual(readByUs(one))
    expect(readByUs(simple + behind)).toEqual(readByUs(simple))
  })

  test('is not longer than heads may be', () => {
    expect(readByUs(simple, { headerBytes: simple.length - 4 })).toBeUndefined()
    expect(readByUs(simple, { headerBytes: simple.length - 3 })).toBeDefined()
  })

  test('has no more headers than it may', () => {
    expect(readByUs(simple, { headerCount: 0 })).toBeUndefined()
    expect(readByUs(simple, { headerCount: 1 })).toBeDefined()
  })

  test('is every one that clients send', () => {
    fc.assert(
      fc.property(
        validRequest.filter((text) => !/\r\n(?:te|expect|upgrade|trailer):/i.test(text)),
        (text) => {
          expect(readByUs(text)).toBeDefined()
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('whatever we read', () => {
  let port = 0
  let reads: Read[] = []
  const server = createServer({ requireHostHeader: false }, (request, reply) => {
    const body: Buffer[] = []
    request.on('data', (chunk: Buffer) => body.push(chunk))
    request.on('end', () => {
      reads.push(readOf(request, Buffer.concat(body)))
      reply.end()
    })
  })
  server.on('checkContinue', (request) => request.socket.destroy())
  server.on('clientError', (_, socket) => socket.destroy())
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  function readOf({ method, url, rawHeaders }: IncomingMessage, body: Buffer): Read {
    return { method, target: url, headers: rawHeaders, body: body.toString('latin1') }
  }

  /** All that Node takes these bytes for, with a request behind them that must come through. */
  async function readByNode(text: string): Promise<Read[]> {
    reads = []
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(`${text}GET /last HTTP/1.1\r\nConnection: close\r\n\r\n`, 'latin1')
    socket.resume()
    await once(socket, 'close')
    return reads
  }

  /** All requests that we read from the beginning, and whether nothing is left. */
  function readAllByUs(text: string): { readonly all: readonly Read[]; readonly isWhole: boolean } {
    const all: Read[] = []
    for (let rest = text; ; ) {
      const bytes = Buffer.from(rest, 'latin1')
      const end = readPlainRequest(bytes, { headerBytes: 16_384, headerCount: 100 })?.end
      const read = readByUs(rest)
      if (end === undefined || read === undefined) return { all, isWhole: rest === '' }
      all.push(read)
      rest = rest.slice(end)
    }
  }

  /** Whatever is behind what we read, Node must read the same requests first. */
  async function compare(text: string): Promise<boolean> {
    const { all, isWhole } = readAllByUs(text)
    if (all.length === 0) return false
    const last = { method: 'GET', target: '/last', headers: ['Connection', 'close'], body: '' }
    const byNode = await readByNode(text)
    expect(isWhole ? byNode : byNode.slice(0, all.length)).toEqual(isWhole ? [...all, last] : all)
    return true
  }

  test('Node reads as the same requests', async () => {
    let taken = 0
    await fc.assert(
      fc.asyncProperty(fc.oneof(validRequest, oddRequest), behind, async (text, more) => {
        if (await compare(text + more)) taken++
      }),
      { numRuns: 1500 },
    )
    // Else nothing was compared.
    expect(taken).toBeGreaterThan(300)
  })

  test('is so for what public probes send', async () => {
    interface Case {
      readonly raw: string | null
    }
    const cases = JSON.parse(corpusText('http11probe/cases.json') ?? '[]') as Case[]
    for (const { raw } of cases) await compare(raw ?? '')
  })
})
