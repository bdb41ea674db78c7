import { describe, expect, test } from 'vitest'
import { ErrorCode } from '../../src/h2/error-codes.ts'
import { FrameType } from '../../src/h2/frames.ts'
import { corpusLines } from '../support/corpora.ts'
import {
  connectFrames,
  data,
  type FrameClient,
  headers,
  requestFields,
} from '../support/frame-client.ts'
import type { Field } from '../support/http-text.ts'
import { inParallel } from '../support/in-parallel.ts'
import type { RawAnswer } from '../support/raw-client.ts'
import type { RecordedRequest } from '../support/recording-upstream.ts'
import { type CallOptions, startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const start = (limits: Readonly<Record<string, unknown>> = {}) =>
  startPostern({ config: { application: { h2c: true }, limits } })

const bearer = ['authorization', `Bearer ${tokenOf('editor')}`] as const

/** What the client sees of a verdict. */
const verdictOf = ({ status, body }: RawAnswer) => {
  if (body === '') return { status }
  const { code, ok } = JSON.parse(body)
  return { status, code, ok }
}

/** What the upstream got, apart from what differs between any two requests. */
function seenOf(request: RecordedRequest | undefined) {
  if (request === undefined) return undefined
  const { line, body, trailers } = request
  const fields = request.headers
    .map(([name, value]) => `${name.toLowerCase()}: ${value}`)
    .filter((text) => !/^(?:x-request-id|traceparent|x-case):/.test(text))
    .sort()
  return { line, fields, body, trailers }
}

/** The same request over both protocols: the verdicts, and what the upstream got of each. */
async function overBoth(postern: TestPostern, name: string, line: string, options: CallOptions) {
  const one = async (http2: boolean) => {
    const mark = `${name} over ${http2 ? 'HTTP/2' : 'HTTP/1.1'}`
    const answer = await postern.call(line, {
      ...options,
      headers: [...(options.headers ?? []), `X-Case: ${mark}`],
      http2,
    })
    const seen = postern.upstream.requests.find((each) => each.values('x-case')[0] === mark)
    return { line, verdict: verdictOf(answer), seen: seenOf(seen) }
  }
  return [await one(false), await one(true)] as const
}

describe('over HTTP/2 and HTTP/1.1, verdict and upstream request are the same', () => {
  const editor = tokenOf('editor')
  test.each<readonly [string, CallOptions]>([
    ['GET /api/v1/public/a', { as: 'editor' }],
    ['GET /api/v1/public/a?b=%2e%2E&c=/../d', { as: 'editor' }],
    ['GET /api/v1/public/%61%20b', { as: 'editor' }],
    ['GET /api/v1/public/a', {}],
    ['GET /api/v1/sys-user', { as: 'editor' }],
    ['GET /api/v1/public/../sys-user', { as: 'editor' }],
    ['GET /api/v1/public/a#b', { as: 'editor' }],
    ['GET //evil.example/a', { as: 'editor' }],
    ['OPTIONS *', {}],
    ['TRACE /api/v1/public/a', { as: 'editor' }],
    ['BREW /api/v1/public/a', { as: 'admin' }],
    ['POST /api/v1/articles', { as: 'editor', body: '{"a":1}' }],
    ['POST /api/v1/articles', { as: 'editor', body: '' }],
    ['DELETE /api/v1/articles', { as: 'admin', headers: ['X-Role-Key: root', 'x_user_id: 1'] }],
    ['GET /api/v1/public/a', { headers: [`Cookie: a=1; jwt=${editor}; b=2`] }],
    ['GET /api/v1/public/a', { headers: ['Cookie: a=1', `Cookie: jwt=${editor}`] }],
    ['GET /api/v1/public/a', { headers: [`Cookie: jwt=${editor}`, `Cookie: jwt=${editor}`] }],
    ['GET /api/v1/public/a', { as: 'editor', headers: ['Expect: something'] }],
    [
      'GET /api/v1/public/a',
      { as: 'editor', headers: ['Range: bytes=0-1', 'Accept: a', 'Accept: b'] },
    ],
    ['GET /api/v1/public/a', { as: 'editor', host: 'GATEWAY.test:80' }],
    ['GET /api/v1/public/a', { as: 'editor', host: 'a b' }],
    ['GET /api/v1/public/a', { as: 'editor', host: 'user@gateway.test' }],
    ['GET /api/v1/public/a', { as: 'editor', host: 'gateway.test/x' }],
    ['GET /api/v1/public/a', { as: 'editor', host: 'gateway.test,evil.example' }],
    ['GET /api/v1/public/a', { as: 'editor', host: '' }],
    ['GET /api/v1/public/a', { as: 'editor', host: '[::1' }],
    ['GET /api/v1/public/a', { as: 'editor', host: 'gateway.test:99999' }],
  ])('%s %j', async (line, options) => {
    const [before, now] = await overBoth(await start(), 'one', line, options)

    expect(now).toEqual(before)
  })

  const payloads = corpusLines(
    'payloads/Directory_Traversal_Intruder_directory_traversal.txt',
    'payloads/Open_Redirect_Intruder_openredirects.txt',
    'payloads/CRLF_Injection_Files_crlfinjection.txt',
  )
  test(`for public payloads (${payloads.length})`, async () => {
    const postern = await start()

    await inParallel(payloads, async (payload) => {
      const text = payload.replace(/[\x00-\x20]/g, '').replaceAll('{FILE}', 'sys-user')
      const name = String(payloads.indexOf(payload))
      const [before, now] = await overBoth(postern, name, `GET /api/v1/public/${text}`, {
        as: 'editor',
      })
      expect(now).toEqual(before)
    })
  })
})

/** How a stream ended: the status of its response, or the code of its reset. */
async function endOf(client: FrameClient, id: number): Promise<string> {
  const find = (type: number) =>
    client.frames.find((each) => each.type === type && each.streamId === id)
  await until(
    () =>
      client.isClosed ||
      find(FrameType.rstStream) !== undefined ||
      client.blocks(id)[0] !== undefined,
  )
  const status = client.blocks(id)[0]?.find(([name]) => name === ':status')?.[1]
  if (status !== undefined) return `status ${status}`
  const code = find(FrameType.rstStream)?.payload.readUInt32BE(0)
  return code === undefined ? 'connection closed' : `reset ${code}`
}

const malformed = `reset ${ErrorCode.protocolError}`
const line = (method: string, path: string, authority = 'gateway.test'): Field[] => [
  [':method', method],
  [':scheme', 'http'],
  [':path', path],
  [':authority', authority],
]

// T090
describe('a request that HTTP/1.1 would read differently', () => {
  test.each<readonly [string, readonly Field[], string]>([
    ['no method', line('GET', '/api/v1/public/a').slice(1), malformed],
    ['no scheme', line('GET', '/api/v1/public/a').filter(([n]) => n !== ':scheme'), malformed],
    ['no path', line('GET', '/api/v1/public/a').filter(([n]) => n !== ':path'), malformed],
    ['an empty path', line('GET', ''), malformed],
    ['an absolute path', line('GET', 'http://evil.example/api/v1/public/a'), malformed],
    ['a path without a slash', line('GET', 'api/v1/public/a'), malformed],
    ['* for a path', line('GET', '*'), malformed],
    ['a space in the path', line('GET', '/api/v1/public/a HTTP/1.1'), malformed],
    ['a line break in the path', line('GET', '/api/v1/public/a\r\nx-user-id: 1'), malformed],
    ['a fragment in the path', line('GET', '/api/v1/public/a#b'), 'status 400'],
    ['a line break in the method', line('GET / HTTP/1.1\r\na: b', '/api/v1/public/a'), malformed],
    ['a space in the method', line('GET /x', '/api/v1/public/a'), malformed],
    [
      'an unknown scheme',
      [
        [':method', 'GET'],
        [':scheme', 'http\r\nx: y'],
        [':path', '/'],
      ],
      malformed,
    ],
    ['a user in :authority', line('GET', '/api/v1/public/a', 'u:p@gateway.test'), malformed],
    ['a path in :authority', line('GET', '/api/v1/public/a', 'gateway.test/x'), malformed],
    [
      'two hosts in :authority',
      line('GET', '/api/v1/public/a', 'gateway.test, evil.example'),
      malformed,
    ],
    [
      'two hosts without a space',
      line('GET', '/api/v1/public/a', 'gateway.test,evil.example'),
      'status 400',
    ],
    ['no host at all', line('GET', '/api/v1/public/a').slice(0, 3), 'status 400'],
    [
      'a late pseudo-header',
      [...line('GET', '/api/v1/public/a').slice(0, 3), bearer, [':authority', 'gateway.test']],
      malformed,
    ],
    ['another Host', [...line('GET', '/api/v1/public/a'), ['host', 'evil.example']], malformed],
    [
      'Host twice',
      [
        ...line('GET', '/api/v1/public/a').slice(0, 3),
        ['host', 'gateway.test'],
        ['host', 'gateway.test'],
      ],
      malformed,
    ],
    [
      'CONNECT',
      [
        [':method', 'CONNECT'],
        [':authority', 'evil.example:443'],
      ],
      'status 405',
    ],
    ['CONNECT with a path', line('CONNECT', '/api/v1/public/a'), malformed],
    [
      'extended CONNECT',
      [...line('CONNECT', '/api/v1/public/a'), [':protocol', 'websocket']],
      malformed,
    ],
    [
      'a content-length with a sign',
      [...line('GET', '/api/v1/public/a'), ['content-length', '+0']],
      malformed,
    ],
    [
      'a list as content-length',
      [...line('GET', '/api/v1/public/a'), ['content-length', '0, 0']],
      malformed,
    ],
    [
      'http2-settings and upgrade',
      [...line('GET', '/api/v1/public/a'), ['upgrade', 'h2c'], ['http2-settings', '']],
      malformed,
    ],
    ['a colon in a name', [...line('GET', '/api/v1/public/a'), ['a:b', 'c']], malformed],
    ['a line break in a name', [...line('GET', '/api/v1/public/a'), ['a\r\nb', 'c']], malformed],
    ['an empty name', [...line('GET', '/api/v1/public/a'), ['', 'c']], malformed],
    ['a space before a value', [...line('GET', '/api/v1/public/a'), ['a', ' c']], malformed],
  ])('is refused before any upstream sees it: %s', async (_, fields, expected) => {
    const postern = await start()
    const client = await connectFrames(postern.publicPort)
    client.send(headers(1, fields.includes(bearer) ? fields : [...fields, bearer]))

    expect(await endOf(client, 1)).toBe(expected)
    expect(postern.upstream.bytes()).toBe(0)

    client.send(headers(3, requestFields('GET /api/v1/public/a', [bearer])))
    expect(await endOf(client, 3)).toBe('status 200')
  })

  test('a forged scheme does not become X-Forwarded-Proto', async () => {
    const postern = await start()
    const client = await connectFrames(postern.publicPort)
    const [method, , ...rest] = line('GET', '/api/v1/public/a')
    client.send(headers(1, [method as Field, [':scheme', 'https'], ...rest, bearer]))

    expect(await endOf(client, 1)).toBe('status 200')
    expect(postern.upstream.requests[0]?.values('x-forwarded-proto')).toEqual(['http'])
  })

  test('Host alone, or in another case beside :authority, is one Host at the upstream', async () => {
    const postern = await start()
    const client = await connectFrames(postern.publicPort)
    client.send(
      headers(1, [
        ...line('GET', '/api/v1/public/a').slice(0, 3),
        ['host', 'gateway.test'],
        bearer,
      ]),
      headers(3, [...line('GET', '/api/v1/public/a'), ['host', 'Gateway.Test'], bearer]),
    )

    expect([await endOf(client, 1), await endOf(client, 3)]).toEqual(['status 200', 'status 200'])
    expect(postern.upstream.requests.map((each) => each.values('host').length)).toEqual([1, 1])
    expect(postern.upstream.requests.map((each) => each.values('x-forwarded-host'))).toEqual([
      ['gateway.test'],
      ['gateway.test'],
    ])
  })

  test('trailers reach nobody, whatever their names', async () => {
    const postern = await start()
    const client = await connectFrames(postern.publicPort)
    client.send(
      headers(1, requestFields('POST /api/v1/articles', [bearer]), { body: true }),
      data(1, 'abc', false),
      headers(1, [
        ['x-user-id', '1'],
        ['x-role-key', 'admin'],
      ]),
      headers(3, requestFields('POST /api/v1/articles', [bearer]), { body: true }),
      data(3, 'abc', false),
      headers(3, [['transfer-encoding', 'chunked']]),
      headers(5, requestFields('POST /api/v1/articles', [bearer]), { body: true }),
      data(5, 'abc', false),
      headers(5, [[':path', '/api/v1/sys-user']]),
    )

    expect(await endOf(client, 1)).toBe('status 200')
    expect([await endOf(client, 3), await endOf(client, 5)]).toEqual([malformed, malformed])
    expect(postern.upstream.requests).toHaveLength(1)
    const [seen] = postern.upstream.requests
    expect([seen?.body, seen?.trailers, seen?.values('x-user-id')]).toEqual(['abc', [], ['42']])
  })
})

describe('the limits of a header section', () => {
  const many = (count: number): Field[] =>
    Array.from({ length: count }, (_, at) => [`x-${at}`, 'a'] as const)

  test('too many bytes or headers are 431, and the connection goes on', async () => {
    const postern = await start({ headerBytes: 16_384, headerCount: 50 })
    const client = await connectFrames(postern.publicPort)
    client.send(
      headers(1, requestFields('GET /api/v1/public/a', [bearer, ['x-a', 'a'.repeat(20_000)]])),
      headers(3, requestFields('GET /api/v1/public/a', [bearer, ...many(49)])),
      headers(5, requestFields('GET /api/v1/public/a', [bearer, ...many(48)])),
      headers(7, requestFields(`GET /${'a'.repeat(9000)}`, [bearer])),
    )

    expect(await Promise.all([1, 3, 5, 7].map((id) => endOf(client, id)))).toEqual([
      'status 431',
      'status 431',
      'status 200',
      'status 414',
    ])
    expect(postern.upstream.requests).toHaveLength(1)
    const metrics = await (await fetch(`http://127.0.0.1:${postern.opsPort}/metrics`)).text()
    expect(metrics).toContain('postern_requests_rejected_total{reason="headers-too-large"} 2')
  })

  test('a field for each cookie is not a header each', async () => {
    const postern = await start({ headerCount: 50 })
    const client = await connectFrames(postern.publicPort)
    const crumbs = Array.from({ length: 100 }, (_, at) => ['cookie', `c${at}=1`] as const)
    client.send(headers(1, requestFields('GET /api/v1/public/a', [bearer, ...crumbs])))

    expect(await endOf(client, 1)).toBe('status 200')
    expect(postern.upstream.requests[0]?.values('cookie')).toEqual([
      crumbs.map(([, value]) => value).join('; '),
    ])
  })
})
