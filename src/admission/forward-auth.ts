import type { OwnEndpoint } from './own-endpoints.ts'
import type { AccessRoute } from './routes.ts'
import { pathOf } from './target.ts'

interface ProxyRefusal {
  readonly refusal: 'no-such-endpoint' | 'ambiguous-path'
  readonly reason: string
}

/**
 * Why Postern refuses a request when another proxy asks whether to forward it, although the public
 * port would accept its path.
 */
export function forwardAuthRefusal(
  target: string,
  {
    endpoint,
    route,
  }: { readonly endpoint?: OwnEndpoint | undefined; readonly route?: AccessRoute | undefined },
): ProxyRefusal | undefined {
  // If allowed, the proxy would send it to a service, past a maintenance page for example.
  if (endpoint === undefined && route?.respond !== undefined) {
    return { refusal: 'no-such-endpoint', reason: 'the proxy must route this path to Postern' }
  }
  // If allowed, the proxy would send it to a service with a second login, or with a logout that revokes
  // nothing. These paths need no forward-auth request when the proxy routes them to Postern.
  if (endpoint !== undefined && endpoint.upstream === undefined) {
    return { refusal: 'no-such-endpoint', reason: 'the proxy must route this path to Postern' }
  }
  // The proxy forwards the target as the client wrote it, not as the policy saw it. A service that
  // compares before it decodes would see another path (RFC 3986 6.2.2.2).
  if (escapedUnreserved.test(pathOf(target))) {
    return { refusal: 'ambiguous-path', reason: 'percent-encoded unreserved character' }
  }
  return undefined
}

/** Percent-encoded letters, digits and `-._~`, which no client needs to encode. */
const escapedUnreserved = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/i
