import type { CompiledPolicies } from '../policy/compile.ts'
import type { VerifiedToken } from '../token/tokens.ts'
import { authorize } from './authorize.ts'
import { type IdentifyParts, identify } from './identify.ts'
import type { RouteLimits } from './route-limits.ts'
import type { Authorized, Received } from './stages.ts'

export interface AdmitParts extends IdentifyParts {
  readonly limits: RouteLimits
  readonly policies: () => CompiledPolicies
  /** Ends the token here at once; says whether every other gateway will learn of it by itself. */
  readonly endToken: (token: VerifiedToken) => Promise<'everywhere' | 'here'>
}

/**
 * Both checks, in their order and with the limits of the route, whoever forwards the request
 * afterwards. Throws a Refusal unless the caller may make this call. A logout ends its token.
 */
export async function admit(received: Received, parts: AdmitParts): Promise<Authorized> {
  parts.limits.byAddress(received)
  const identified = await identify(received, parts)
  parts.limits.byCaller(identified)
  const authorized = authorize(identified, parts.policies)

  // Whoever answers a logout, the token is over.
  if (received.endpoint?.name === 'logout' && identified.token !== undefined) {
    received.arrival.notes.ended = await parts.endToken(identified.token)
  }
  return authorized
}
