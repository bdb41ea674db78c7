import { isRemoved, readsAsOurs } from '../endpoints.ts'
import { Refusal } from '../errors.ts'
import type { ReadHeaders } from './arriving-headers.ts'
import type { FindOrigin } from './client-origin.ts'
import { type FindOwnEndpoint, serverWide } from './own-endpoints.ts'
import { createRequestId } from './request-id.ts'
import { type FindRoute, outgoingPath, type ReadPath } from './routes.ts'
import type { Arrival, Received } from './stages.ts'

export interface ReceiveParts {
  readonly readHeaders: ReadHeaders
  readonly findOrigin: FindOrigin
  readonly findEndpoint: FindOwnEndpoint
  readonly readPath: ReadPath
  readonly findRoute: FindRoute
  readonly maxTargetBytes: number
}

/**
 * Settles what the request is before anybody asks who sent it: one canonical path, one framing,
 * no header that only Postern may set. What could be read in two ways is refused here.
 */
export function receive(arrival: Arrival, parts: ReceiveParts): Received {
  const ownId = createRequestId()
  arrival.notes.requestId = ownId
  arrival.notes.address = arrival.remoteAddress

  refuseForeignProtocol(arrival)
  const { path, query } = splitTarget(arrival, parts)
  arrival.notes.path = path
  // Specification, Removed endpoint.
  if (isRemoved(path)) throw new Refusal('no-such-endpoint')
  const route = parts.findRoute(path)
  const endpoint = parts.findEndpoint(arrival.method, path)
  const sentPath = endpoint === undefined ? outgoingPath(path, route) : path
  // Else a rewritten or an oddly spelled path would be a way to what must not be reached.
  if (endpoint === undefined && readsAsOurs(sentPath)) throw new Refusal('no-such-endpoint')
  if (sentPath !== path) arrival.notes.sentPath = sentPath
  arrival.notes.route = endpoint?.name ?? route?.path ?? 'none'
  const headers = parts.readHeaders(arrival.rawHeaders, arrival.httpVersion)
  const origin = parts.findOrigin(arrival, headers)
  arrival.notes.address = origin.address
  // A request that a trusted proxy has named keeps its name all the way.
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
    requestId,
  } as Received
}

/** TRACE would echo the credentials that we hold back; CONNECT asks for another kind of proxy. */
const refusedMethods = new Set(['TRACE', 'CONNECT'])

function refuseForeignProtocol({ httpVersion, method }: Arrival): void {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    throw new Refusal('bad-request', { reason: 'neither HTTP/1.0 nor HTTP/1.1' })
  }
  if (refusedMethods.has(method)) throw new Refusal('method-not-allowed')
}

function splitTarget(arrival: Arrival, parts: ReceiveParts) {
  const { method, target } = arrival
  if (target === serverWide && method === 'OPTIONS') return { path: serverWide, query: '' }
  if (target.length > parts.maxTargetBytes) throw new Refusal('target-too-long')

  const mark = target.indexOf('?')
  const rawPath = mark === -1 ? target : target.slice(0, mark)
  const path = parts.readPath(rawPath)
  const query = mark === -1 ? '' : target.slice(mark + 1)
  if (path === undefined) {
    noteAmbiguous(arrival, rawPath, parts)
    throw new Refusal('ambiguous-path')
  }
  if (!isPlainQuery(query)) {
    noteAmbiguous(arrival, rawPath, parts)
    throw new Refusal('ambiguous-path', { reason: 'in the query' })
  }
  return { path, query }
}

/** Whoever tries such paths is to be found in the log, also behind a trusted proxy. */
function noteAmbiguous(arrival: Arrival, rawPath: string, parts: ReceiveParts): void {
  arrival.notes.rawPath = rawPath
  const headers = parts.readHeaders(arrival.rawHeaders, arrival.httpVersion)
  arrival.notes.address = parts.findOrigin(arrival, headers).address
}

/** Printable ASCII without `#`: a fragment has no place in a request target (RFC 9112 3.2.1). */
function isPlainQuery(query: string): boolean {
  return /^[\x21\x22\x24-\x7e]*$/.test(query)
}
