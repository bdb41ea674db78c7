import { METHODS } from 'node:http'
import type { ReadHost } from '../admission/canonical-host.ts'
import { classify, isRefusedMethod, type Surface } from '../admission/classify.ts'
import { routeLabel } from '../admission/route-label.ts'
import { pathOf, readTarget, type TargetParts } from '../admission/target.ts'
import type { HostParts } from '../admission/verdict.ts'
import { Refusal } from '../kernel/errors.ts'
import type { Arrival } from './arrival/arrival.ts'
import type { ReadHeaders } from './arrival/arriving-headers.ts'
import type { ClientOrigin, FindOrigin } from './arrival/client-origin.ts'
import { createRequestId } from './arrival/request-id.ts'
import { hasDestination, readDestination } from './destination.ts'
import type { Route } from './route/route.ts'
import type { Received } from './stages.ts'

export interface ReceiveParts extends Surface<Route>, TargetParts, HostParts {
  readonly readHeaders: ReadHeaders
  readonly findOrigin: FindOrigin
}

/**
 * Settles what the request is before the check of who sent it: one canonical host, one canonical path,
 * one framing, no header that only Postern may set. Refuses everything ambiguous.
 */
export function receive(arrival: Arrival, parts: ReceiveParts): Received {
  const { method, notes } = arrival
  const ownId = createRequestId()
  notes.requestId = ownId
  notes.address = arrival.remoteAddress

  refuseForeignProtocol(arrival)
  // The log must show the path of a request whose headers or host are refused.
  notes.rawPath = pathOf(arrival.target)
  const sent = parts.readHeaders(arrival.rawHeaders, arrival.httpVersion)
  const { url } = arrival
  const headers = url === undefined ? sent : { ...sent, host: url.authority }
  const origin = parts.findOrigin(arrival, headers)
  notes.address = origin.address
  if (url !== undefined && url.scheme !== origin.scheme) {
    // RFC 9110 7.4: a resource of https must not be requested over an insecure connection.
    throw new Refusal('misdirected', { reason: 'the scheme does not match the connection' })
  }
  const host = parts.readHost && acceptedHost(arrival, origin, parts.readHost, parts)
  notes.rawPath = undefined
  const { path, query } = acceptedTarget(arrival, parts, host)
  notes.path = path
  const { isRefused, route, endpoint, sentPath, need } = classify(method, path, parts, host)
  if (isRefused) throw new Refusal('no-such-endpoint')
  if (sentPath !== path) notes.sentPath = sentPath
  notes.route = endpoint?.name ?? (route === undefined ? 'none' : routeLabel(route))
  const destination =
    headers.destination !== undefined && hasDestination(method) && endpoint === undefined
      ? readDestination(headers.destination, { method, host, origin, route }, parts)
      : undefined
  // The ID of a trusted proxy is kept, so that the logs of both can be joined.
  const requestId = origin.requestId ?? ownId
  notes.requestId = requestId

  return {
    arrival,
    call: { method, path, host, domain: parts.policyUsesHost ? host : undefined },
    sentPath,
    query,
    headers,
    origin,
    route,
    endpoint,
    need,
    destination,
    requestId,
  } as Received
}

function refuseForeignProtocol({ httpVersion, method }: Arrival): void {
  if (httpVersion !== '1.1' && httpVersion !== '2' && httpVersion !== '1.0') {
    throw new Refusal('bad-request', { reason: 'unsupported HTTP version' })
  }
  if (isRefusedMethod(method)) throw new Refusal('method-not-allowed')
  if (httpVersion === '2' && !knownMethods.has(method)) {
    throw new Refusal('bad-request', { reason: 'unknown method' })
  }
}

/** The parser of HTTP/1.1 accepts no others, and routes can name no others. */
const knownMethods: ReadonlySet<string> = new Set(METHODS)

/** A host that is not served has no paths, not even our own. */
function acceptedHost(
  arrival: Arrival,
  origin: ClientOrigin,
  readHost: ReadHost,
  { servesHost }: HostParts,
): string | undefined {
  // A proxy may send its own requests to an inner name, whose routes a client must not be able to select.
  if (origin.isHostMalformed) {
    throw new Refusal('bad-request', { reason: 'malformed X-Forwarded-Host header' })
  }
  const host = origin.host === undefined ? undefined : readHost(origin.host)
  if (host === undefined && origin.host !== undefined) {
    throw new Refusal('bad-request', { reason: 'the host has no canonical form' })
  }
  if (host !== undefined) arrival.notes.host = host
  // A proxy chooses the name that it connects to, and reports the host of the client.
  const serverName = origin.isProxied ? undefined : arrival.serverName
  if (serverName !== undefined && readHost(serverName) !== host) {
    // RFC 9110 15.5.20: the connection was made, and its certificate checked, for another host.
    throw new Refusal('misdirected', {
      reason: 'the host differs from the name in the TLS handshake',
    })
  }
  if (!servesHost(host)) throw new Refusal('no-such-host')
  return host
}

function acceptedTarget(arrival: Arrival, parts: ReceiveParts, host: string | undefined) {
  const read = readTarget(arrival.method, arrival.target, parts, host)
  if (read.refusal === undefined) return read
  if (read.refusal === 'ambiguous-path') arrival.notes.rawPath = pathOf(arrival.target)
  throw new Refusal(read.refusal, read.reason === undefined ? {} : { reason: read.reason })
}
