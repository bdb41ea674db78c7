import { Refusal } from '../errors.ts'
import type { VerifyToken } from '../token/tokens.ts'
import { findToken } from './carriers.ts'
import type { Identified, Received } from './stages.ts'

/**
 * Establishes who calls, or refuses. Only a route that is declared public goes on without a
 * caller, and then without any: a token that happens to be there is not read.
 */
export async function identify(received: Received, verifyToken: VerifyToken): Promise<Identified> {
  if (received.route?.access === 'public' && received.endpoint === undefined) {
    return { received, token: undefined, carrier: undefined } as Identified
  }

  const carried = findToken(received)
  if (carried === undefined) throw new Refusal('token-missing')
  received.arrival.notes.carrier = carried.carrier
  if (carried.carrier === 'cookie') refuseCrossSite(received)

  const token = await verifyToken(carried.token)
  received.arrival.notes.caller = token.caller
  return { received, token, carrier: carried.carrier } as Identified
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * A browser sends cookies along with requests that another site makes it send. Without this, any
 * page could act for whoever is logged in.
 */
function refuseCrossSite({ arrival, call, headers }: Received): void {
  // A WebSocket begins with GET, and then does whatever its page wants.
  if (safeMethods.has(call.method) && arrival.upgrade === undefined) return
  const site = headers.fetchSite
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw new Refusal('cross-site-cookie', { reason: `Sec-Fetch-Site ${site}` })
  }
  if (headers.origin !== undefined && originHost(headers.origin) !== headers.host?.toLowerCase()) {
    throw new Refusal('cross-site-cookie', { reason: 'Origin is another host' })
  }
}

function originHost(origin: string): string | undefined {
  const match = /^https?:\/\/([^/]+)$/i.exec(origin)
  return match?.[1]?.toLowerCase()
}
