import { Refusal } from '../errors.ts'
import type { Arrival } from './arrival/arrival.ts'
import type { AssertionHeader } from './headers/assertion-header.ts'
import type { IdentityHeaders } from './headers/identity-headers.ts'
import { passesCredentials } from './headers/upstream-headers.ts'
import type { Contract, ReadOriginal } from './original-request.ts'
import type { Admit, AdmitParts } from './pipeline.ts'
import { type ReceiveParts, receive } from './receive.ts'
import type { Authorized, Received } from './stages.ts'

interface CheckParts extends ReceiveParts, AdmitParts {
  readonly admit: Admit
  readonly readOriginal: ReadOriginal
  readonly identity: IdentityHeaders
  readonly assertion: AssertionHeader
  readonly requestIdName: string
  /** Every name that tells an upstream who calls. */
  readonly identityNames: readonly string[]
}

/** Whether a proxy may forward a request, and the headers that it is to set on it if so. */
export type Check = (question: Arrival) => Promise<readonly string[]>

/**
 * The line for people who have another proxy in front: receive, identify and authorize as on the
 * public port, on the request that the proxy asks about, and then its answer instead of the
 * forwarding. Throws what the stages throw.
 */
export function createCheck(parts: CheckParts): Check {
  return async (question) => {
    const { contract, arrival } = parts.readOriginal(question)
    const received = receive(arrival, parts)
    refuseOwn(received)
    refuseRespelled(received)
    return answer(await parts.admit(received, parts), contract, parts)
  }
}

/**
 * A yes would let the proxy send it to a service that offers a second login, or a logout that ends
 * nothing. Routed to Postern itself, as it must be, it needs no question.
 */
function refuseOwn({ endpoint }: Received): void {
  if (endpoint === undefined || endpoint.upstream !== undefined) return
  throw new Refusal('no-such-endpoint', { reason: 'the proxy must route this path to Postern' })
}

/** Letters, digits and `-._~` behind a percent sign, which no client has to write so. */
const escapedUnreserved = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/i

/**
 * The proxy sends the target on as the client wrote it, and not as it was decided on: a service
 * that compares before it decodes would see another path (RFC 3986 6.2.2.2).
 */
function refuseRespelled({ arrival: { target } }: Received): void {
  const [path = ''] = target.split('?', 1)
  if (!escapedUnreserved.test(path)) return
  throw new Refusal('ambiguous-path', { reason: 'percent-encoded unreserved character' })
}

async function answer(
  authorized: Authorized,
  contract: Contract,
  { identity, assertion, requestIdName, identityNames }: CheckParts,
): Promise<readonly string[]> {
  const { received, token } = authorized
  const headers = [requestIdName, received.requestId]
  if (token !== undefined) headers.push(...identity(token))
  headers.push(...(await assertion(authorized, received.route?.upstream)))
  if (contract !== 'envoy') return headers

  // Envoy sets what the answer has and leaves the client's own where it has nothing.
  const given = headers.filter((_, at) => at % 2 === 0)
  const removed = identityNames.filter((name) => !given.includes(name))
  if (!passesCredentials(received)) removed.push('Authorization')
  return [...headers, 'X-Envoy-Auth-Headers-To-Remove', removed.join(', ')]
}
