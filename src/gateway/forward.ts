import type { ServerResponse } from 'node:http'
import type { Dispatcher } from 'undici'
import { Refusal } from '../errors.ts'
import type { ArrivingHeaders } from './arriving-headers.ts'
import type { AssertionHeader } from './assertion-header.ts'
import { queryWithoutToken } from './carriers.ts'
import { type Exchange, exchange } from './exchange.ts'
import { requestBody } from './request-body.ts'
import type { Authorized } from './stages.ts'
import { upstreamFault } from './upstream-errors.ts'
import { passesCredentials, type UpstreamHeaders } from './upstream-headers.ts'
import type { Upstream, Upstreams } from './upstreams.ts'

export interface ForwardParts
  extends Pick<
    Exchange,
    'relayHeaders' | 'relayTrailers' | 'maxStallMs' | 'openExchanges' | 'tunnels'
  > {
  readonly upstreams: Upstreams
  readonly upstreamHeaders: UpstreamHeaders
  readonly assertion: AssertionHeader
  readonly maxBodyBytes: number
}

/**
 * Sends an authorized request to its upstream and streams the answer back. The path that was
 * settled at the beginning is the path that goes out, byte for byte, through no URL parser. Resolves when the
 * exchange is over; rejects with a Fault only while the client has not been answered yet.
 */
export async function forward(
  authorized: Authorized,
  reply: ServerResponse,
  parts: ForwardParts,
): Promise<void> {
  const { received, carrier, token } = authorized
  const { notes } = received.arrival
  const upstreamName = received.endpoint?.upstream ?? received.route?.upstream
  if (upstreamName === undefined) throw new Refusal('no-such-route')
  notes.upstream = upstreamName

  const upstream = parts.upstreams.get(upstreamName)
  const signed = parts.assertion(authorized, upstreamName)
  // Signed already, it is not waited for: that would cost every request a turn.
  const assertion: readonly string[] = signed instanceof Promise ? await signed : signed
  const options = departure(authorized, reply, parts, upstream)
  if (assertion.length > 0) options.headers.push(...assertion)
  const { relayHeaders, relayTrailers, maxStallMs, openExchanges, tunnels } = parts
  const { upgrade } = received.arrival
  const fault = await exchange({
    reply,
    upstream,
    options,
    relayHeaders,
    relayTrailers,
    takesTrailers: received.headers.takesTrailers,
    maxStallMs,
    carrier,
    // The call that ends a token is to have its answer.
    token: received.endpoint?.name === 'logout' ? undefined : token,
    authorized,
    openExchanges,
    tunnels,
    upgrade,
    notes,
  })
  if (fault !== undefined) throw fault instanceof Refusal ? fault : upstreamFault(fault)
}

function departure(
  authorized: Authorized,
  reply: ServerResponse,
  { upstreamHeaders, maxBodyBytes }: ForwardParts,
  { host, headersTimeoutMs, bodyTimeoutMs }: Upstream,
): Dispatcher.DispatchOptions & { readonly headers: string[] } {
  const { received } = authorized
  const { call, sentPath, headers, arrival } = received
  const query = passesCredentials(received) ? received.query : queryWithoutToken(received.query)
  const hasBody = headers.chunked || Number(headers.contentLength ?? 0) > 0

  if (Number(headers.contentLength ?? 0) > maxBodyBytes) throw new Refusal('body-too-large')
  return {
    method: call.method as Dispatcher.HttpMethod,
    path: query === '' ? sentPath : `${sentPath}?${query}`,
    headers: upstreamHeaders(authorized, host),
    body: hasBody ? requestBody(arrival.body, maxBodyBytes, invitation(headers, reply)) : null,
    // To undici that is also how long a target may pause in taking a body.
    ...(hasBody && { headersTimeout: Math.max(headersTimeoutMs, bodyTimeoutMs) }),
    ...(arrival.upgrade !== undefined && { upgrade: arrival.upgrade.protocol }),
  }
}

/** RFC 9110 10.1.1: whoever asks first sends nothing that is refused, or that nobody can take. */
function invitation({ expectsContinue }: ArrivingHeaders, reply: ServerResponse) {
  if (!expectsContinue) return undefined
  return () => {
    if (!reply.headersSent && !reply.destroyed) reply.writeContinue()
  }
}
