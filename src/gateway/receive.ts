import { classify, isRefusedMethod, type Surface } from '../admission/classify.ts'
import { pathOf, readTarget, type TargetParts } from '../admission/target.ts'
import { Refusal } from '../errors.ts'
import type { Arrival } from './arrival/arrival.ts'
import type { ReadHeaders } from './arrival/arriving-headers.ts'
import type { FindOrigin } from './arrival/client-origin.ts'
import { createRequestId } from './arrival/request-id.ts'
import type { Route } from './route/route.ts'
import type { Received } from './stages.ts'

export interface ReceiveParts extends Surface<Route>, TargetParts {
  readonly readHeaders: ReadHeaders
  readonly findOrigin: FindOrigin
}

/**
 * Settles what the request is before the check of who sent it: one canonical path, one framing, no
 * header that only Postern may set. Refuses everything ambiguous.
 */
export function receive(arrival: Arrival, parts: ReceiveParts): Received {
  const ownId = createRequestId()
  arrival.notes.requestId = ownId
  arrival.notes.address = arrival.remoteAddress

  refuseForeignProtocol(arrival)
  const { path, query } = acceptedTarget(arrival, parts)
  arrival.notes.path = path
  const { isRefused, route, endpoint, sentPath, need } = classify(arrival.method, path, parts)
  if (isRefused) throw new Refusal('no-such-endpoint')
  if (sentPath !== path) arrival.notes.sentPath = sentPath
  arrival.notes.route = endpoint?.name ?? route?.path ?? 'none'
  const headers = parts.readHeaders(arrival.rawHeaders, arrival.httpVersion)
  const origin = parts.findOrigin(arrival, headers)
  arrival.notes.address = origin.address
  // The ID of a trusted proxy is kept, so that the logs of both can be joined.
  const requestId = origin.requestId ?? ownId
  arrival.notes.requestId = requestId

  return {
    arrival,
    call: { method: arrival.method, path },
    sentPath,
    query,
    headers,
    origin,
    route,
    endpoint,
    need,
    requestId,
  } as Received
}

function refuseForeignProtocol({ httpVersion, method }: Arrival): void {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    throw new Refusal('bad-request', { reason: 'unsupported HTTP version' })
  }
  if (isRefusedMethod(method)) throw new Refusal('method-not-allowed')
}

function acceptedTarget(arrival: Arrival, parts: ReceiveParts) {
  const read = readTarget(arrival.method, arrival.target, parts)
  if (read.refusal === undefined) return read
  if (read.refusal === 'ambiguous-path') noteAmbiguous(arrival, parts)
  throw new Refusal(read.refusal, read.reason === undefined ? {} : { reason: read.reason })
}

/** The log must show the client that tries such paths, also behind a trusted proxy. */
function noteAmbiguous(arrival: Arrival, parts: ReceiveParts): void {
  arrival.notes.rawPath = pathOf(arrival.target)
  const headers = parts.readHeaders(arrival.rawHeaders, arrival.httpVersion)
  arrival.notes.address = parts.findOrigin(arrival, headers).address
}
