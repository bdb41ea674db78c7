import type { Carrier } from '../arrival/notes.ts'
import {
  cookieWithout,
  cookieWithoutConsole,
  cookieWithoutToken,
  withoutKeys,
} from '../carriers.ts'
import { type Authorized, type Received, shapeOf } from '../stages.ts'
import type { IdentityHeaders } from './identity-headers.ts'

/** Name, value, name, value … without Host and the headers of the connection. */
export type UpstreamHeaders = (authorized: Authorized) => string[]

/**
 * The client's headers, followed by those that only Postern may set. The client's own headers with
 * these names were dropped, so each name occurs once, with the token's value. No upstream gets
 * `stickyCookies`, also on a route below one that sets them.
 */
export function createUpstreamHeaders(
  identity: IdentityHeaders,
  requestIdName: string,
  stickyCookies: ReadonlySet<string> = new Set(),
): UpstreamHeaders {
  return (authorized) => {
    const { received, token } = authorized
    const { headers, origin, requestId, route, call, sentPath } = received
    const edit = shapeOf(received)?.editRequest
    // Before the headers that only Postern may set: no edit can reach those.
    const passable =
      route?.carriers === undefined || passesCarrier(authorized, 'key')
        ? headers.passable
        : withoutKeys(headers.passable, route.carriers)
    const out = edit === undefined ? [...passable] : edit(passable)
    if (headers.control !== undefined) pushControl(out, headers.control, received)
    pushCredentials(out, authorized, stickyCookies)
    if (headers.contentLength !== undefined) out.push('Content-Length', headers.contentLength)
    if (headers.destination !== undefined) {
      out.push('Destination', received.destination?.sentPath ?? headers.destination)
    }
    if (headers.takesTrailers) out.push('TE', 'trailers')

    if (token !== undefined) out.push(...identity(token))
    out.push(requestIdName, requestId, 'X-Forwarded-For', origin.chain)
    out.push('X-Forwarded-Proto', origin.scheme)
    if (origin.host !== undefined) out.push('X-Forwarded-Host', origin.host)
    // Lets a service write links that lead back through this route.
    if (route?.replacePrefix === '/' && sentPath !== call.path) {
      out.push('X-Forwarded-Prefix', route.path)
    }
    return out
  }
}

/** Whether the upstream gets this carrier as the client sent it. */
export function passesCarrier({ received, passed }: Authorized, carrier: Carrier): boolean {
  if (passed?.has(carrier)) return true
  return received.route?.forwardCredentials === true && appliesToUpstream(received)
}

/** The settings of a route apply to its own upstream only, not to one that serves an endpoint. */
function appliesToUpstream({ route, endpoint }: Received): boolean {
  return endpoint?.upstream === undefined || endpoint.upstream === route?.upstream
}

function pushControl(out: string[], control: readonly string[], received: Received): void {
  const passed = received.route?.passHeaders
  if (passed === undefined || !appliesToUpstream(received)) return
  for (let at = 0; at < control.length; at += 2) {
    const name = control[at] as string
    const lower = name.toLowerCase()
    if (passed.some((one) => one.toLowerCase() === lower)) out.push(name, control[at + 1] as string)
  }
}

function pushCredentials(
  out: string[],
  authorized: Authorized,
  stickyCookies: ReadonlySet<string>,
): void {
  const { authorization, cookies } = authorized.received.headers
  if (authorization !== undefined && passesCarrier(authorized, 'header')) {
    out.push('Authorization', authorization)
  }
  if (cookies.length === 0) return
  const isUntouched = passesCarrier(authorized, 'cookie')
  for (const cookie of cookies) {
    let rest = isUntouched ? cookie : cookieWithoutToken(cookie)
    if (stickyCookies.size > 0 && rest !== undefined) rest = cookieWithout(rest, stickyCookies)
    if (rest !== undefined) rest = cookieWithoutConsole(rest)
    if (rest !== undefined) out.push('Cookie', rest)
  }
}
