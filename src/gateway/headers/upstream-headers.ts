import { cookieWithoutToken } from '../carriers.ts'
import type { Authorized, Received } from '../stages.ts'
import type { IdentityHeaders } from './identity-headers.ts'

/** Name, value, name, value … of all but Host and what belongs to the connection. */
export type UpstreamHeaders = (authorized: Authorized) => string[]

/**
 * The headers of the request that goes out: what the client may say, and after it what only
 * Postern says. Injection comes last and every injected name was taken off before, so each stands
 * there once, with the token's value.
 */
export function createUpstreamHeaders(
  identity: IdentityHeaders,
  requestIdName: string,
): UpstreamHeaders {
  return ({ received, token }) => {
    const { headers, origin, requestId, route, call, sentPath } = received
    const out = [...headers.passable]
    if (headers.control !== undefined) pushControl(out, headers.control, received)
    pushCredentials(out, received, passesCredentials(received))
    if (headers.contentLength !== undefined) out.push('Content-Length', headers.contentLength)
    if (headers.takesTrailers) out.push('TE', 'trailers')

    if (token !== undefined) out.push(...identity(token))
    out.push(requestIdName, requestId, 'X-Forwarded-For', origin.chain)
    out.push('X-Forwarded-Proto', origin.scheme)
    if (origin.host !== undefined) out.push('X-Forwarded-Host', origin.host)
    // With it, a service can write links that lead back here.
    if (route?.replacePrefix === '/' && sentPath !== call.path) {
      out.push('X-Forwarded-Prefix', route.path)
    }
    return out
  }
}

export function passesCredentials(received: Received): boolean {
  return received.route?.forwardCredentials === true && speaksForUpstream(received)
}

/** A route speaks for its own upstream only, not for one that an endpoint is handed to. */
function speaksForUpstream({ route, endpoint }: Received): boolean {
  return endpoint?.upstream === undefined || endpoint.upstream === route?.upstream
}

function pushControl(out: string[], control: readonly string[], received: Received): void {
  const passed = received.route?.passHeaders
  if (passed === undefined || !speaksForUpstream(received)) return
  for (let at = 0; at < control.length; at += 2) {
    const name = control[at] as string
    const lower = name.toLowerCase()
    if (passed.some((one) => one.toLowerCase() === lower)) out.push(name, control[at + 1] as string)
  }
}

function pushCredentials(out: string[], { headers }: Received, forwardCredentials: boolean): void {
  if (forwardCredentials && headers.authorization !== undefined) {
    out.push('Authorization', headers.authorization)
  }
  for (const cookie of headers.cookies) {
    const kept = forwardCredentials ? cookie : cookieWithoutToken(cookie)
    if (kept !== undefined) out.push('Cookie', kept)
  }
}
