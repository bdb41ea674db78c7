import { Refusal } from '../kernel/errors.ts'
import type { IsOwnToken, VerifyToken } from '../token/tokens.ts'
import { carriersOf, findToken } from './carriers.ts'
import type { FindCrossSite } from './cross-site.ts'
import { after, type Eventually } from './eventually.ts'
import { findPassedCarriers } from './passed-carriers.ts'
import type { Identified, Received } from './stages.ts'

export interface IdentifyParts {
  readonly verifyToken: VerifyToken
  readonly isOwnToken: IsOwnToken
  readonly crossSite: FindCrossSite
  /** The name of the cookie that login sets. */
  readonly cookieName: string
}

/**
 * Identifies the caller, or refuses. Only a public route goes on without a caller, and it never reads
 * a token, even if the request carries one.
 */
export function identify(received: Received, parts: IdentifyParts): Eventually<Identified> {
  if (carriersOf(received) === undefined) return identifyCaller(received, parts)
  return after(identifyCaller(received, parts), (identified) =>
    after(
      findPassedCarriers(received, parts.isOwnToken),
      (passed) => ({ ...identified, passed }) as Identified,
    ),
  )
}

function identifyCaller(
  received: Received,
  { verifyToken, crossSite, cookieName }: IdentifyParts,
): Eventually<Identified> {
  if (received.need === 'nothing') {
    return { received, token: undefined, carrier: undefined, passed: undefined } as Identified
  }

  // Browsers would ask people for a password.
  if (carriersOf(received)?.includes('basic') && received.headers.fetchSite === undefined) {
    received.arrival.notes.takesBasic = true
  }
  const carried = findToken(received, cookieName)
  if (carried === undefined) throw new Refusal('token-missing')
  const { carrier } = carried
  received.arrival.notes.carrier = carrier
  // Browsers that were given a name and a password send them with requests of other sites too.
  if (carrier === 'cookie' || carrier === 'basic') refuseCrossSite(received, crossSite)

  return after(verifyToken(carried.token), (token) => {
    // In an address it would be in logs, and pages could send a cookie on behalf of their visitors.
    if (token.kind === 'issuer' && carrier !== 'header') {
      const reason = 'tokens of other issuers are accepted in the Authorization header only'
      throw new Refusal('token-invalid', { reason })
    }
    if (token.kind !== 'service' && (carrier === 'basic' || carrier === 'key')) {
      const reason = 'HTTP Basic and API keys carry service tokens only'
      throw new Refusal('token-invalid', { reason })
    }
    const { notes } = received.arrival
    notes.caller = token.caller
    notes.kind = token.kind
    return { received, token, carrier, passed: undefined } as Identified
  })
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * A browser also sends cookies with requests that another site triggers. Without this check, any page
 * could act as the logged-in user (CSRF).
 */
function refuseCrossSite(received: Received, crossSite: FindCrossSite): void {
  const { arrival, call } = received
  // A WebSocket begins with GET, but its page can send anything through it.
  if (safeMethods.has(call.method) && arrival.upgrade === undefined) return
  const reason = crossSite(received)
  if (reason !== undefined) throw new Refusal('cross-site-cookie', { reason })
}
