import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { plainHead } from '../../src/http/plain/plain-head.ts'
import { sendRaw } from '../support/raw-client.ts'

interface Given {
  readonly status: number
  readonly headers: string[]
  readonly body: string
  readonly last: boolean
}

/** What Node writes for the same. */
let given: Given
let refused: unknown
const server = createServer({ keepAliveTimeout: 65_000 }, (_, reply) => {
  reply.shouldKeepAlive = !given.last
  try {
    reply.writeHead(given.status, given.headers)
    reply.end(given.body, 'latin1')
  } catch (error) {
    refused = error
    reply.destroy()
  }
})
let port = 0
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

async function byNode(answer: Given): Promise<string | undefined> {
  given = answer
  refused = undefined
  const { bytes } = await sendRaw(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  return refused === undefined ? bytes.toString('latin1') : undefined
}

function byUs({ status, headers, body, last }: Given): string | undefined {
  const head = plainHead(status, headers, last ? undefined : 'timeout=65')
  return head === undefined ? undefined : head.text + body
}

/** The one thing that may differ when both have to write it. */
const withoutDate = (text: string | undefined) => text?.replace(/\r\nDate: [^\r]*/, '\r\nDate: …')

const name = fc.oneof(
  fc.constantFrom('Date', 'date', 'Server', 'ETag', 'Set-Cookie', 'Vary', 'X-A'),
  fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,10}$/),
)
const value = fc.oneof(
  fc.stringMatching(/^[\t\x20-\x7e\x80-\xff]{0,20}$/),
  fc.constantFrom('a\r\nX-B: b', 'a\nb', 'a\0', '\u0100', ''),
)
const answers = fc
  .record({
    status: fc.constantFrom(200, 201, 301, 400, 404, 429, 500, 599, 299),
    extra: fc.array(fc.tuple(name, value), { maxLength: 5 }),
    body: fc.stringMatching(/^[\x00-\xff]{0,30}$/),
    last: fc.boolean(),
  })
  .map(({ extra, body, ...rest }): Given => {
    const headers = [...extra.flat(), 'Content-Length', String(body.length)]
    return { ...rest, headers, body }
  })

describe('the head of an answer whose length is known', () => {
  test('is what Node would write, or left to Node', async () => {
    let written = 0
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        const ours = byUs(answer)
        if (ours === undefined) return
        written++
        expect(withoutDate(ours)).toBe(withoutDate(await byNode(answer)))
      }),
      { numRuns: 150 },
    )
    expect(written).toBeGreaterThan(30)
  })

  test('carries the Date of the upstream, or the time of now', () => {
    const date = 'Thu, 01 Jan 1970 00:00:00 GMT'
    const now = Date.now()
    const own = /\r\nDate: (.*)\r\n/.exec(
      plainHead(200, ['Content-Length', '0'], undefined)?.text ?? '',
    )

    expect(plainHead(200, ['Date', date, 'Content-Length', '0'], undefined)?.text).toContain(date)
    expect(Math.abs(Date.parse(own?.[1] ?? '') - now)).toBeLessThan(5000)
  })

  test.each<[string, number, string[]]>([
    ['that has no body: 204', 204, ['Content-Length', '0']],
    ['that has no body: 304', 304, ['Content-Length', '5']],
    ['without a length', 200, []],
    ['with two', 200, ['Content-Length', '1', 'content-length', '1']],
    ['in chunks', 200, ['Content-Length', '1', 'Transfer-Encoding', 'chunked']],
    ['with a word on the connection', 200, ['Content-Length', '1', 'Connection', 'close']],
    ['with trailers', 200, ['Content-Length', '1', 'Trailer', 'X']],
    ['with a line in a value', 200, ['Content-Length', '1', 'X', 'a\r\nY: b']],
    ['with a character that is no byte', 200, ['Content-Length', '1', 'X', '\u010a']],
    ['with a name that is none', 200, ['Content-Length', '1', 'X: a\r\nY', 'b']],
  ])('is not of one %s', (_, status, headers) => {
    expect(plainHead(status, headers, 'timeout=65')).toBeUndefined()
  })
})
