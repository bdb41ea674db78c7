import { describe, expect, test } from 'vitest'
import type { Arrival } from '../../src/gateway/arrival/arrival.ts'
import { readCheckRequest } from '../../src/http/forward-auth/check-request.ts'
import { allowedResponse, deniedResponse } from '../../src/http/forward-auth/check-response.ts'
import { describedRequest } from '../../src/http/forward-auth/described-request.ts'
import { encoded, field, numberField, utf8 } from '../../src/http/forward-auth/protobuf.ts'
import { Refusal } from '../../src/kernel/errors.ts'
import { checkOf, decodeAnswer, encodeCheck } from '../support/check-messages.ts'

const bytesField = (number: number, content: Buffer | string) =>
  encoded(field(number, Buffer.from(content).toString('latin1')))
const numberBytes = (number: number, value: number) => encoded(numberField(number, value))

/** The check with these bytes as its HTTP request. */
const withHttp = (...fields: Buffer[]) =>
  bytesField(1, bytesField(4, bytesField(2, Buffer.concat(fields))))
const get = bytesField(2, 'GET')
const path = bytesField(4, '/a')

const reasonOf = (bytes: Buffer): string => {
  try {
    readCheckRequest(bytes)
    return 'read'
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.detail.reason ?? ''
  }
}

const call: Arrival = {
  method: 'POST',
  target: '/envoy.service.auth.v3.Authorization/Check',
  httpVersion: '2',
  rawHeaders: ['x-user-id', 'of the call, not of the client'],
  remoteAddress: '10.0.0.1',
  encrypted: false,
  body: undefined,
  notes: {},
}

describe('a check that a real encoder wrote', () => {
  test('is read, without what Postern does not need', () => {
    const bytes = encodeCheck(checkOf({ headers: { cookie: 'a=b; c=d', 'x-empty': '' } }))

    expect(readCheckRequest(bytes)).toEqual({
      method: 'GET',
      path: '/api/v1/public/a',
      host: 'shop.example',
      scheme: 'https',
      headers: [
        ...[':method', 'GET', ':path', '/api/v1/public/a', ':authority', 'shop.example'],
        ...['cookie', 'a=b; c=d', 'x-empty', ''],
      ],
      peerAddress: '9.9.9.9',
    })
  })

  test('keeps raw headers apart, byte by byte', () => {
    const raw = [
      { key: 'x-a', raw_value: Buffer.from([0x61, 0xff]) },
      { key: 'x-a', raw_value: Buffer.from('b') },
      { key: 'x-b', value: 'text' },
    ]
    const http = { method: 'PUT', path: '/a', header_map: { headers: raw } }

    const read = readCheckRequest(encodeCheck({ attributes: { request: { http } } }))

    expect(read.headers).toEqual(['x-a', 'a\u00ff', 'x-a', 'b', 'x-b', 'text'])
    expect(read.peerAddress).toBeUndefined()
  })

  test('from a Unix socket has no address', () => {
    const source = { address: { pipe: { path: '/run/a' } } }
    const request = { http: { method: 'GET', path: '/a' } }

    expect(readCheckRequest(encodeCheck({ attributes: { source, request } }))).toMatchObject({
      peerAddress: undefined,
      headers: [],
    })
  })
})

describe('an answer', () => {
  test('that allows is read by a real decoder, and replaces what the client sent', () => {
    const bytes = allowedResponse(['X-User-Id', '42', 'X-User-Name', ''], ['X-Role-Key'])

    const { status, ok_response, denied_response } = decodeAnswer(bytes)

    expect(status.code).toBe(0)
    expect(denied_response).toBeUndefined()
    expect(ok_response?.headers_to_remove).toEqual(['x-role-key'])
    expect(ok_response?.headers.map(({ header }) => header)).toEqual([
      { key: 'x-user-id', value: '42' },
      { key: 'x-user-name', value: '' },
    ])
    for (const { append, append_action } of ok_response?.headers ?? []) {
      // Stated, not left to the default of a version of Envoy.
      expect(append).toBeDefined()
      expect([append?.value ?? false, append_action]).toEqual([false, 2])
    }
  })

  test('that denies has a status, headers and a body in UTF-8', () => {
    const body = utf8('{"msg":"请先登录"}')

    const { status, ok_response, denied_response } = decodeAnswer(
      deniedResponse({ grpcCode: 16, status: 401, headers: ['Retry-After', '300'], body }),
    )

    expect([status.code, ok_response]).toEqual([16, undefined])
    expect(denied_response?.status.code).toBe(401)
    expect(denied_response?.headers.map(({ header }) => header)).toEqual([
      { key: 'retry-after', value: '300' },
    ])
    expect(denied_response?.body).toBe('{"msg":"请先登录"}')
  })

  test('is UTF-8, whatever the names and values are', () => {
    const bytes = allowedResponse(['X-Name', 'caf\u00e9 \u767b'], ['X-\u00c9'])

    const { ok_response } = decodeAnswer(bytes)

    expect(ok_response?.headers[0]?.header.value).toBe('caf\u00e9 \u767b')
    expect(ok_response?.headers_to_remove).toEqual(['x-\u00e9'])
  })

  test('of many bytes has right lengths', () => {
    const long = 'x'.repeat(70_000)

    const { ok_response } = decodeAnswer(allowedResponse(['a', long], []))

    expect(ok_response?.headers[0]?.header.value).toBe(long)
  })
})

describe('hostile bytes', () => {
  const deep = () => {
    let bytes: Buffer = Buffer.alloc(0)
    for (let depth = 0; depth < 20_000; depth++) bytes = bytesField(1, bytes)
    return bytes
  }
  const header = (field: number, ...parts: Buffer[]) => bytesField(field, Buffer.concat(parts))
  const entry = header(3, bytesField(1, 'a'), bytesField(2, 'b'))
  const rawEntry = bytesField(13, header(1, bytesField(1, 'a'), bytesField(3, 'b')))

  test.each([
    ['a length beyond the end', Buffer.from([0x0a, 0x7f, 1])],
    ['a length of 4 GiB', Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 1])],
    ['a length of more than 32 bits', Buffer.from([0x0a, ...Array(9).fill(0xff), 1])],
    ['a number without an end', Buffer.from([0x08, ...Array(11).fill(0xff)])],
    ['field 0', Buffer.from([0x02, 0])],
    ['a group', Buffer.from([0x0b, 0x0c])],
    ['an unknown type', Buffer.from([0x0e])],
    ['half a fixed number', Buffer.from([0x19, 1, 2, 3])],
    ['a number in the place of a message', numberBytes(1, 5)],
    ['two attributes', Buffer.concat([withHttp(get, path), withHttp(get, path)])],
    ['two paths', withHttp(get, path, bytesField(4, '/b'))],
    ['two methods', withHttp(get, get, path)],
    ['a number in the place of a header', withHttp(get, path, numberBytes(3, 1))],
    [
      'a number in the place of a raw header',
      withHttp(get, path, bytesField(13, numberBytes(1, 1))),
    ],
  ])('with %s are refused', (_, bytes) => {
    expect(reasonOf(bytes)).toBe('malformed message')
  })

  test.each([
    ['without a request', Buffer.alloc(0), 'the check is not about an HTTP request'],
    [
      'with both kinds of headers',
      withHttp(get, path, entry, rawEntry),
      'both headers and header_map',
    ],
    [
      'with a header of two values',
      withHttp(
        bytesField(13, header(1, bytesField(1, 'a'), bytesField(2, 'b'), bytesField(3, 'c'))),
      ),
      'a header with two values',
    ],
    ['with too many headers', withHttp(...Array(1001).fill(entry)), 'too many headers'],
    [
      'with a line break in a path',
      withHttp(get, bytesField(4, '/a\r\nX: b')),
      'a control character in a header, method or path',
    ],
  ])('%s are refused', (_, bytes, reason) => {
    expect(reasonOf(bytes)).toBe(reason)
  })

  test('nest as deep as they like without effect', () => {
    expect(reasonOf(Buffer.concat([withHttp(get, path), bytesField(1000, deep())]))).toBe('read')
    expect(reasonOf(deep())).toBe('the check is not about an HTTP request')
  })

  test('of every truncation are refused, or are about less', () => {
    const headers = { authorization: 'Bearer a.b.c', cookie: 'a=b' }
    const whole = encodeCheck(checkOf({ headers }))

    for (let length = 0; length < whole.length; length++) {
      // All of it is in one field, whose length tells.
      expect([length, reasonOf(whole.subarray(0, length))]).not.toEqual([length, 'read'])
    }
    expect(reasonOf(whole)).toBe('read')
  })
})

describe('the request that a check describes', () => {
  const described = (headers: Record<string, string>, more: object = {}) => {
    const bytes = encodeCheck(checkOf({ headers, ...more }))
    const { rawHeaders, ...rest } = describedRequest(call, readCheckRequest(bytes))
    const values = (name: string) =>
      rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name)
    return { ...rest, values }
  }

  test('is the one that Envoy would ask about over HTTP', () => {
    const request = described({ authorization: 'Bearer x', 'x-forwarded-proto': 'http' })

    expect(request).toMatchObject({
      method: 'GET',
      target: '/auth/envoy/api/v1/public/a',
      httpVersion: '1.1',
      remoteAddress: '10.0.0.1',
      body: undefined,
    })
    expect(request.values('authorization')).toEqual(['Bearer x'])
    expect(request.values('x-forwarded-proto')).toEqual(['http'])
    // Headers of the call are of the proxy, not of its client.
    expect(request.values('x-user-id')).toEqual([])
  })

  test('has the host that Envoy routes by, whatever the client says', () => {
    const request = described({ host: 'evil.example', 'x-forwarded-host': 'evil.example' })

    expect(request.values('host')).toEqual(['shop.example'])
    expect(request.values('x-forwarded-host')).toEqual([])
  })

  test.each([
    ['nothing', {}, '9.9.9.9'],
    ['what Envoy added', { 'x-forwarded-for': '1.1.1.1, 9.9.9.9' }, '1.1.1.1, 9.9.9.9'],
    ['what the client wrote', { 'x-forwarded-for': '1.1.1.1' }, '1.1.1.1,9.9.9.9'],
  ])('comes from the peer of Envoy after %s', (_, headers, chain) => {
    expect(described(headers as Record<string, string>).values('x-forwarded-for')).toEqual([chain])
  })

  test('has the scheme of Envoy if no header reports it', () => {
    expect(described({}).values('x-forwarded-proto')).toEqual(['https'])
  })

  test('lacks what frames the body, which Postern does not see', () => {
    const framing = { 'transfer-encoding': 'chunked', 'content-length': '5', expect: 'x', te: 'y' }

    const request = described({ ...framing, connection: 'authorization' })

    for (const name of [...Object.keys(framing), 'connection']) {
      expect([name, request.values(name)]).toEqual([name, []])
    }
  })
})
