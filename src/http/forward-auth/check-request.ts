import { Fields, latin1Of, malformed, type Part, wholeOf } from './protobuf.ts'

/** What Postern reads of an `envoy.service.auth.v3.CheckRequest`. Texts are Latin-1, as in headers. */
export interface CheckRequest {
  readonly method: string
  /** With the query, as the client sent it. */
  readonly path: string
  readonly host: string
  readonly scheme: string
  /** Name, value, name, value …, pseudo-headers included. */
  readonly headers: readonly string[]
  /** The IP address of Envoy's peer, unless that is a Unix socket. */
  readonly peerAddress: string | undefined
}

/** Far more than any proxy accepts. */
const maxHeaders = 1000

/**
 * Field numbers are those of `attribute_context.proto`. A field that may occur once and occurs twice is
 * refused: the specification of Protocol Buffers merges messages and takes the last of other fields,
 * and a proxy that sends it asks for one request and might forward another.
 */
export function readCheckRequest(message: Buffer): CheckRequest {
  const attributes = partIn(wholeOf(message), 1)
  const http = partIn(partIn(attributes, 4), 2)
  if (http === undefined) throw malformed('the check is not about an HTTP request')
  return { ...readHttp(http), peerAddress: readPeerAddress(partIn(attributes, 1)) }
}

/** The content of the field with this number, which occurs at most once. Others are skipped. */
function partIn(message: Part | undefined, field: number): Part | undefined {
  if (message === undefined) return undefined
  const fields = new Fields(message)
  let found: Part | undefined
  while (fields.next()) {
    if (fields.field !== field) continue
    if (found !== undefined) throw malformed()
    found = fields.content()
  }
  return found
}

/** `headers` is a map; `header_map` has them as they came, with `encode_raw_headers`. */
function readHttp(http: Part): Omit<CheckRequest, 'peerAddress'> {
  const texts: (string | undefined)[] = []
  const joined: string[] = []
  const raw: string[] = []
  const fields = new Fields(http)
  while (fields.next()) {
    switch (fields.field) {
      case httpField.headers:
        pushHeader(joined, fields.content(), false)
        break
      case httpField.headerMap:
        pushHeaders(raw, fields.content())
        break
      case httpField.method:
      case httpField.path:
      case httpField.host:
      case httpField.scheme:
        if (texts[fields.field] !== undefined) throw malformed()
        texts[fields.field] = textOf(fields.content())
        break
    }
  }
  if (joined.length > 0 && raw.length > 0) throw malformed('both headers and header_map')
  return {
    method: texts[httpField.method] ?? '',
    path: texts[httpField.path] ?? '',
    host: texts[httpField.host] ?? '',
    scheme: texts[httpField.scheme] ?? '',
    headers: raw.length > 0 ? raw : joined,
  }
}

const httpField = { method: 2, headers: 3, path: 4, host: 5, scheme: 6, headerMap: 13 } as const

function pushHeaders(headers: string[], map: Part): void {
  const fields = new Fields(map)
  while (fields.next()) if (fields.field === 1) pushHeader(headers, fields.content(), true)
}

/** The value is text; `isRaw`: or bytes in another field. */
function pushHeader(headers: string[], header: Part, isRaw: boolean): void {
  if (headers.length >= 2 * maxHeaders) throw malformed('too many headers')
  let name: string | undefined
  let value: string | undefined
  const fields = new Fields(header)
  while (fields.next()) {
    const { field } = fields
    if (field === 1) {
      if (name !== undefined) throw malformed()
      name = textOf(fields.content())
    } else if (field === 2 || (field === 3 && isRaw)) {
      if (value !== undefined) throw malformed('a header with two values')
      value = textOf(fields.content())
    }
  }
  headers.push(name ?? '', value ?? '')
}

function readPeerAddress(source: Part | undefined): string | undefined {
  const socketAddress = partIn(partIn(source, 1), 1)
  const text = partIn(socketAddress, 2)
  return text === undefined ? undefined : textOf(text)
}

/** As the parser of HTTP/1.1 does; refuses what it would refuse. */
function textOf(part: Part): string {
  const text = latin1Of(part)
  if (/[\0\r\n]/.test(text)) throw malformed('a control character in a header, method or path')
  return text
}
