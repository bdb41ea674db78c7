import { queryWithoutToken } from './carriers.ts'
import type { RelayHeaders } from './headers/relayed-headers.ts'
import type { Reply } from './reply.ts'
import type { FixedResponse } from './route/route.ts'
import type { Authorized, Received } from './stages.ts'

/** Answers an authorized request of a route that has a fixed response instead of an upstream. */
export function replyFixed(
  { received, carrier }: Authorized,
  reply: Reply,
  fixed: FixedResponse,
  relayHeaders: RelayHeaders,
): void {
  const { status, location } = fixed
  const headers =
    location === undefined
      ? fixed.headers
      : ['Location', locationOf(location, received), ...fixed.headers]
  // The rest of a body would be read as the next request.
  if (isUploading(received)) reply.shouldKeepAlive = false
  reply.writeHead(status, relayHeaders({ status, headers, listed: undefined }, carrier))
  reply.end(received.call.method === 'HEAD' ? '' : fixed.body, 'latin1')
}

function isUploading({ headers, arrival }: Received): boolean {
  const hasBody = headers.chunked || Number(headers.contentLength ?? 0) > 0
  return hasBody && arrival.body?.complete !== true
}

/**
 * The path is canonical and starts with one slash, and `config check` wants a host or a path before
 * it, so no client can choose another host. Our token never goes along in the query.
 */
function locationOf([before = '', after]: readonly string[], received: Received): string {
  if (after === undefined) return before
  const query = queryWithoutToken(received.query)
  return `${before}${received.sentPath}${after}${query === '' ? '' : `?${query}`}`
}
