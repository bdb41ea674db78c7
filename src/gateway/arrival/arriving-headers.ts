import { Refusal } from '../../kernel/errors.ts'
import { createTreatments, type Treatment } from './header-treatments.ts'

/** The headers of a request, sorted in one pass. */
export type ArrivingHeaders = Readonly<Arriving>

/**
 * Filled while the headers are read. `passable` may go to an upstream unchanged: on every path it is free
 * of reserved names, hop-by-hop names and credentials.
 */
class Arriving {
  /** Name, value, name, value … in the order and spelling of the client. */
  passable: string[] = []
  /** Like `passable`, but headers that control servers: a route passes them only by name. */
  control: string[] | undefined = undefined
  /** Lower-case names of dropped headers that a service may read as one that only Postern may set. */
  forged: string[] | undefined = undefined
  host: string | undefined = undefined
  authorization: string | undefined = undefined
  readonly cookies: string[] = []
  origin: string | undefined = undefined
  fetchSite: string | undefined = undefined
  userAgent = ''
  /** Where WebDAV's COPY and MOVE write to. */
  destination: string | undefined = undefined
  contentType: string | undefined = undefined
  /** What the peer claims about the client. Only trusted proxies are believed. */
  forwardedFor: string | undefined = undefined
  forwardedProto: string | undefined = undefined
  forwardedHost: string | undefined = undefined
  requestId: string | undefined = undefined
  contentLength: string | undefined = undefined
  /** These four are judged as a whole, when all headers have been read. */
  connection: string | undefined = undefined
  transferEncoding: string | undefined = undefined
  expect: string | undefined = undefined
  te: string | undefined = undefined
  chunked = false
  expectsContinue = false
  /** Whether the client has sent `TE: trailers`. */
  takesTrailers = false
}

export type ReadHeaders = (rawHeaders: readonly string[], httpVersion: string) => ArrivingHeaders

/** `injectedNames` are reserved in addition to the fixed names. */
export function createHeaderReader(
  injectedNames: readonly string[],
  requestIdName: string,
): ReadHeaders {
  const treatmentOf = createTreatments(injectedNames, requestIdName)

  return (rawHeaders, httpVersion) => {
    const seen = new Arriving()
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at] as string
      const value = rawHeaders[at + 1] as string
      take(seen, treatmentOf(name), name, value)
    }
    settle(seen, httpVersion)
    return seen
  }
}

function take(seen: Arriving, treatment: Treatment, name: string, value: string): void {
  switch (treatment) {
    case 'pass':
      seen.passable.push(name, value)
      return
    case 'drop':
      return
    case 'forged':
      seen.forged ??= []
      seen.forged.push(name.toLowerCase())
      return
    case 'control':
      seen.control ??= []
      seen.control.push(name, value)
      return
    case 'host':
      seen.host = only(seen.host, value, 'two Host headers')
      return
    case 'authorization':
      seen.authorization = only(seen.authorization, value, 'two Authorization headers')
      return
    case 'cookie':
      seen.cookies.push(value)
      return
    case 'connection':
      seen.connection = listed(seen.connection, value)
      return
    case 'forwarded-for':
      seen.forwardedFor = listed(seen.forwardedFor, value)
      return
    case 'forwarded-proto':
      seen.forwardedProto = listed(seen.forwardedProto, value)
      return
    case 'forwarded-host':
      seen.forwardedHost = listed(seen.forwardedHost, value)
      return
    case 'request-id':
      seen.requestId = value
      return
    case 'content-length':
      seen.contentLength = only(seen.contentLength, value, 'two Content-Length headers')
      return
    case 'transfer-encoding':
      seen.transferEncoding = only(seen.transferEncoding, value, 'two Transfer-Encoding headers')
      return
    case 'expect':
      seen.expect = only(seen.expect, value, 'two Expect headers')
      return
    case 'te':
      seen.te = listed(seen.te, value)
      return
    case 'referer':
      seen.passable.push(name, withoutTokenQuery(value))
      return
    case 'origin':
      seen.origin = only(seen.origin, value, 'two Origin headers')
      seen.passable.push(name, value)
      return
    case 'fetch-site':
      seen.fetchSite = only(seen.fetchSite, value, 'two Sec-Fetch-Site headers')
      seen.passable.push(name, value)
      return
    case 'user-agent':
      seen.userAgent = value
      seen.passable.push(name, value)
      return
    case 'destination':
      seen.destination = only(seen.destination, value, 'two Destination headers')
      return
    case 'content-type':
      seen.contentType = only(seen.contentType, value, 'two Content-Type headers')
      seen.passable.push(name, value)
      return
  }
}

/** RFC 9110 5.3: several lines with the same name are one list. */
function listed(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before},${value}`
}

/** Smuggling starts where we check one value and the upstream uses the other. */
function only(before: string | undefined, value: string, reason: string): string {
  if (before !== undefined) throw new Refusal('bad-request', { reason })
  return value
}

function settle(seen: Arriving, httpVersion: string): void {
  const { contentLength, connection } = seen
  seen.chunked = isChunked(seen.transferEncoding, httpVersion)
  if (contentLength !== undefined && !/^\d{1,15}$/.test(contentLength)) {
    throw new Refusal('bad-request', { reason: 'invalid Content-Length' })
  }
  if (seen.chunked && contentLength !== undefined) {
    throw new Refusal('bad-request', { reason: 'both Content-Length and Transfer-Encoding' })
  }
  seen.passable = withoutListed(seen.passable, connection)
  seen.control = seen.control && withoutListed(seen.control, connection)
  checkHost(seen.host, httpVersion)
  seen.expectsContinue = expectsContinue(seen.expect, httpVersion)
  seen.takesTrailers = seen.te !== undefined && takesTrailers(seen.te, httpVersion)
}

/** Only `chunked` alone: with any other coding the next hop could see the body end elsewhere. */
function isChunked(transferEncoding: string | undefined, httpVersion: string): boolean {
  if (transferEncoding === undefined) return false
  if (httpVersion === '1.0' || transferEncoding.trim().toLowerCase() !== 'chunked') {
    throw new Refusal('bad-request', { reason: 'unsupported Transfer-Encoding' })
  }
  return true
}

/** RFC 9110 10.1.1: ignore it in an HTTP/1.0 request. */
function expectsContinue(expect: string | undefined, httpVersion: string): boolean {
  if (expect === undefined || httpVersion === '1.0') return false
  if (expect.toLowerCase() !== '100-continue') throw new Refusal('expectation-failed')
  return true
}

/** Trailers need chunks, which HTTP/1.0 lacks. */
function takesTrailers(te: string, httpVersion: string): boolean {
  return httpVersion !== '1.0' && /(?:^|,)[ \t]*trailers[ \t]*(?:,|$)/i.test(te)
}

const hostForm = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/

/** RFC 9112 3.2: exactly one valid host. Userinfo, paths and lists are attacks. */
function checkHost(host: string | undefined, httpVersion: string): void {
  if (host === undefined && httpVersion === '1.0') return
  if (host === undefined || !hostForm.test(host)) {
    throw new Refusal('bad-request', { reason: 'missing or malformed Host header' })
  }
}

/** RFC 9110 7.6.1. Injected headers are added later, so a client cannot remove them by listing them. */
function withoutListed(passable: string[], connection: string | undefined): string[] {
  if (connection === undefined || /^(?:keep-alive|close)$/i.test(connection)) return passable

  const listed = new Set(connection.split(',').map((name) => name.trim().toLowerCase()))
  return passable.filter((_, at) => !listed.has((passable[at - (at % 2)] as string).toLowerCase()))
}

/** A page opened with `?token=` sends that URL in the Referer of everything it loads. */
function withoutTokenQuery(referer: string): string {
  const query = referer.indexOf('?')
  if (query === -1 || !/token|%/i.test(referer.slice(query))) return referer
  return referer.slice(0, query)
}
