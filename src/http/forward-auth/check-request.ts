import { malformed, readFields } from './protobuf.ts'

/** What Postern reads of an `envoy.service.auth.v3.CheckRequest`. Texts are Latin-1, as in headers. */
export interface CheckRequest {
  readonly method: string
  /** With the query, as the client sent it. */
  readonly path: string
  readonly host: string
  readonly scheme: string
  /** Name, value, name, value …, pseudo-headers included. */
  readonly headers: readonly string[]
  /** Whether Envoy joined several headers of one name with commas. */
  readonly areJoined: boolean
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
  const attributes = readMessage(message, [1])[1]
  const { 1: source, 4: request } = readMessage(attributes, [1, 4])
  const http = readMessage(request, [2])[2]
  if (http === undefined) throw malformed('the check is not about an HTTP request')

  const texts = readMessage(http, [2, 4, 5, 6])
  const { headers, areJoined } = readHeaders(http)
  return {
    method: textOf(texts[2]),
    path: textOf(texts[4]),
    host: textOf(texts[5]),
    scheme: textOf(texts[6]),
    headers,
    areJoined,
    peerAddress: readPeerAddress(source),
  }
}

/** The fields with these numbers, each at most once. Others are skipped. */
function readMessage<Field extends number>(
  message: Buffer | undefined,
  fields: readonly Field[],
): Partial<Record<Field, Buffer>> {
  const found: Partial<Record<number, Buffer>> = {}
  if (message === undefined) return {}
  readFields(message, (field, content) => {
    if (!(fields as readonly number[]).includes(field)) return
    if (content === undefined || found[field] !== undefined) throw malformed()
    found[field] = content
  })
  return found as Partial<Record<Field, Buffer>>
}

/** `headers` is a map; `header_map` has them as they came, with `encode_raw_headers`. */
function readHeaders(http: Buffer): Pick<CheckRequest, 'headers' | 'areJoined'> {
  const joined: string[] = []
  const raw: string[] = []
  readFields(http, (field, content) => {
    if (field !== 3 && field !== 13) return
    if (content === undefined) throw malformed()
    if (field === 3) pushHeader(joined, readMessage(content, [1, 2]))
    else {
      readFields(content, (inner, header) => {
        if (inner === 1) pushHeader(raw, readMessage(header, [1, 2, 3]))
      })
    }
  })
  if (joined.length > 0 && raw.length > 0) throw malformed('both headers and header_map')
  return raw.length > 0 ? { headers: raw, areJoined: false } : { headers: joined, areJoined: true }
}

/** The value is text, or bytes in another field. */
function pushHeader(
  headers: string[],
  { 1: name, 2: text, 3: bytes }: Partial<Record<1 | 2 | 3, Buffer>>,
): void {
  if (text !== undefined && bytes !== undefined) throw malformed('a header with two values')
  if (headers.length >= 2 * maxHeaders) throw malformed('too many headers')
  headers.push(textOf(name), textOf(text ?? bytes))
}

function readPeerAddress(source: Buffer | undefined): string | undefined {
  const address = readMessage(source, [1])[1]
  const socketAddress = readMessage(address, [1])[1]
  const text = readMessage(socketAddress, [2])[2]
  return text === undefined ? undefined : textOf(text)
}

/** As the parser of HTTP/1.1 does; refuses what it would refuse. */
function textOf(bytes: Buffer | undefined): string {
  const text = bytes?.toString('latin1') ?? ''
  if (/[\0\r\n]/.test(text)) throw malformed('a control character in a header, method or path')
  return text
}
