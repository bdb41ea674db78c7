import { Refusal } from '../kernel/errors.ts'
import type { Trace } from '../tracing/trace.ts'
import type { WireRequest } from '../wire/request-head.ts'
import { isStreamingType } from './arrival/grpc-type.ts'
import { queryWithoutToken, readCookies } from './carriers.ts'
import { after, type Eventually } from './eventually.ts'
import { exchange } from './exchange/exchange.ts'
import { type BodyLimits, type RequestBody, requestBody } from './exchange/request-body.ts'
import type { Exchange } from './exchange/running-exchange.ts'
import type { AssertionHeader } from './headers/assertion-header.ts'
import { relayWithEdits } from './headers/header-edits.ts'
import type { RelayTrailersOf } from './headers/relayed-trailers.ts'
import { rewriteLocation } from './headers/rewritten-location.ts'
import { passesCarrier, type UpstreamHeaders } from './headers/upstream-headers.ts'
import type { Reply } from './reply.ts'
import { type Authorized, type Received, shapeOf } from './stages.ts'
import type { StickyChoice } from './upstream/sticky.ts'
import type { Upstream, Upstreams } from './upstream/upstreams.ts'

export interface ForwardParts
  extends Pick<Exchange, 'relayHeaders' | 'unread' | 'openExchanges' | 'tunnels' | 'eventStreams'> {
  readonly upstreams: Upstreams
  readonly upstreamHeaders: UpstreamHeaders
  /** The origins of the targets of each upstream. */
  readonly upstreamOrigins: ReadonlyMap<string, ReadonlySet<string>>
  readonly relayTrailersOf: RelayTrailersOf
  readonly assertion: AssertionHeader
  readonly bodies: BodyLimits
  /** The part of an address that a client cannot choose freely. */
  readonly addressBlock: (address: string) => string
  /** The trace headers for the upstream. */
  readonly departTrace: (trace: Trace, upstream: string) => readonly string[]
}

/**
 * Sends an authorized request to its upstream and streams the response back. The path that was
 * authorized goes out byte for byte, through no URL parser. Resolves when the exchange has finished;
 * rejects with a Refusal or a Fault only before the response has begun.
 */
export function forward(
  authorized: Authorized,
  reply: Reply,
  parts: ForwardParts,
): Eventually<void> {
  const { received } = authorized
  const name = received.endpoint?.upstream ?? received.route?.upstream
  if (name === undefined) throw new Refusal('no-such-route')
  received.arrival.notes.upstream = name

  return after(parts.assertion(authorized, name), (assertion) =>
    exchangeWith(authorized, reply, parts, { name, assertion }),
  )
}

function exchangeWith(
  authorized: Authorized,
  reply: Reply,
  parts: ForwardParts,
  { name, assertion }: { readonly name: string; readonly assertion: readonly string[] },
): Promise<void> {
  const { received, carrier, token } = authorized
  const { notes, upgrade } = received.arrival
  const upstream = parts.upstreams.get(name)
  const request = outgoingRequest(authorized, reply, parts, upstream)
  if (assertion.length > 0) request.headers.push(...assertion)
  if (notes.trace !== undefined) request.headers.push(...parts.departTrace(notes.trace, name))
  const who = token?.caller.userId ?? parts.addressBlock(received.origin.address)
  return exchange({
    reply,
    upstream,
    sticky: stickyChoice(received, who),
    request,
    body: request.upload,
    who,
    relayHeaders: relayWithEdits(
      received,
      relayFor(received, parts, { name, sentHost: request.host }),
    ),
    relayTrailers: parts.relayTrailersOf(received.headers.contentType),
    takesTrailers: received.headers.takesTrailers,
    unread: parts.unread,
    carrier,
    // A logout revokes its own token and must still get its response.
    token: received.endpoint?.name === 'logout' ? undefined : token,
    authorized,
    openExchanges: parts.openExchanges,
    tunnels: parts.tunnels,
    eventStreams: parts.eventStreams,
    upgrade,
    totalMs: shapeOf(received)?.timeouts?.totalMs,
    notes,
  })
}

function stickyChoice(received: Received, who: string): StickyChoice | undefined {
  const sticky = shapeOf(received)?.sticky
  if (sticky === undefined) return undefined
  const { cookie } = sticky
  return sticky.choiceFor({
    who,
    values: cookie === undefined ? [] : readCookies(received, cookie),
  })
}

/** For most routes the same function. */
function relayFor(
  received: Received,
  { relayHeaders, upstreamOrigins }: ForwardParts,
  { name, sentHost }: { readonly name: string; readonly sentHost: string | undefined },
): ForwardParts['relayHeaders'] {
  const { route, endpoint } = received
  if (route?.rewriteLocation !== 'upstream' || endpoint !== undefined) return relayHeaders
  return (head, carrier) => {
    const headers = relayHeaders(head, carrier)
    rewriteLocation(headers, received, {
      origins: upstreamOrigins.get(name) ?? new Set(),
      sentHost,
    })
    return headers
  }
}

interface OutgoingRequest extends WireRequest {
  readonly headers: string[]
  readonly upload: RequestBody | undefined
}

function outgoingRequest(
  authorized: Authorized,
  reply: Reply,
  { upstreamHeaders, bodies }: ForwardParts,
  { settings: { host, keepAlive, protocol = 'http1' } }: Upstream,
): OutgoingRequest {
  const { received } = authorized
  const { call, sentPath, headers, origin, arrival } = received
  const query = passesCarrier(authorized, 'query')
    ? received.query
    : queryWithoutToken(received.query)
  const length = headers.contentLength === undefined ? 0 : Number(headers.contentLength)
  const hasBody = headers.chunked || length > 0
  const speaksHttp2 = protocol !== 'http1'

  const shape = shapeOf(received)
  const limits =
    shape?.maxBodyBytes === undefined ? bodies : { ...bodies, maxBytes: shape.maxBodyBytes }
  if (length > limits.maxBytes) throw new Refusal('body-too-large')
  if (hasBody) refuseUnexpectedBody(received)
  return {
    method: call.method,
    path: query === '' ? sentPath : `${sentPath}?${query}`,
    host: host === 'target' ? undefined : host === 'client' ? origin.host : host,
    headers: upstreamHeaders(authorized),
    upload: hasBody ? upload(received, reply, limits, speaksHttp2) : undefined,
    upgrade: arrival.upgrade?.protocol,
    closes: !keepAlive || (hasBody && !readsBody.has(call.method)),
    timeouts: shape?.timeouts,
  }
}

/**
 * Methods whose body every service reads. A service that ignores the body of another method would read
 * it as the next request, with headers that the client chose. `Connection: close` prevents that.
 */
const readsBody = new Set(['POST', 'PUT', 'PATCH'])

/** RFC 9110 9.3: content has no meaning with these. */
const takesNoBody = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE'])

function refuseUnexpectedBody({ route, call }: Received): void {
  if (route?.unexpectedBody === 'reject' && takesNoBody.has(call.method)) {
    throw new Refusal('unexpected-body')
  }
}

function upload(
  { arrival: { body, httpVersion }, headers }: Received,
  reply: Reply,
  limits: BodyLimits,
  speaksHttp2: boolean,
): RequestBody | undefined {
  if (body === undefined) return undefined
  const length = headers.chunked ? undefined : Number(headers.contentLength)
  // Over HTTP/1.1 a body comes before its response, whatever its type. Elsewhere the type would be a way
  // around the timeouts of bodies.
  const isCall = httpVersion === '2' && speaksHttp2 && isStreamingType(headers.contentType)
  if (isCall) body.lasts = true
  if (!headers.expectsContinue) return requestBody(body, limits, { length, isCall })
  // RFC 9110 10.1.1: the client sends its body only after the request is accepted and has a connection.
  const invite = () => {
    if (!reply.headersSent && !reply.destroyed) reply.writeContinue()
  }
  return requestBody(body, limits, { length, isCall, invite })
}
