import { forwardAuthRefusal } from '../admission/forward-auth.ts'
import { Refusal } from '../kernel/errors.ts'
import type { Arrival } from './arrival/arrival.ts'
import { keyHeaders } from './carriers.ts'
import { hasDestination } from './destination.ts'
import type { AssertionHeader } from './headers/assertion-header.ts'
import type { IdentityHeaders } from './headers/identity-headers.ts'
import { passesCarrier } from './headers/upstream-headers.ts'
import type { ReadOriginal } from './original-request.ts'
import type { Admit, AdmitParts } from './pipeline.ts'
import { type ReceiveParts, receive } from './receive.ts'
import type { Authorized, Received } from './stages.ts'

interface CheckParts extends ReceiveParts, AdmitParts {
  readonly admit: Admit
  readonly readOriginal: ReadOriginal
  readonly identity: IdentityHeaders
  readonly assertion: AssertionHeader
  readonly requestIdName: string
  /** Every header name that identifies the caller to an upstream. */
  readonly identityNames: readonly string[]
}

/** Returns the headers that the proxy must set on the request. Throws if it must not forward it. */
export type Check = (forwardAuth: Arrival) => Promise<readonly string[]>

/**
 * Forward-auth, for deployments with another proxy in front: receives, identifies and authorizes the
 * original request as the public port does, then answers the proxy instead of forwarding.
 */
export function createCheck(parts: CheckParts): Check {
  // Envoy's HTTP service sends only listed headers: these are removed unseen.
  const unseen = parts.identityNames
    .map((name) => name.toLowerCase())
    .flatMap((name) => [`${name}-bin`, `grpc-metadata-${name}`])
  return async (forwardAuth) => {
    const { contract, arrival } = parts.readOriginal(forwardAuth)
    const received = receive(arrival, parts)
    refuseByProxy(received)
    if (contract === 'envoy') refuseJoined(received)
    else refuseForged(received)
    const authorized = await parts.admit(received, parts)
    const headers = await headersFor(authorized, parts)
    if (contract !== 'envoy') return headers
    const removed = new Set([...removedNames(headers, authorized, parts), ...unseen])
    for (const name of received.headers.forged ?? []) removed.add(name)
    return [...headers, 'X-Envoy-Auth-Headers-To-Remove', [...removed].join(', ')]
  }
}

function refuseByProxy(received: Received): void {
  const { arrival, call, destination, headers } = received
  // Traefik and Envoy send only listed headers: without this, a Destination that they keep to themselves
  // would reach the service unchecked.
  if (hasDestination(call.method) && headers.destination === undefined) {
    throw new Refusal('bad-request', { reason: `${call.method} without a Destination header` })
  }
  const refused =
    forwardAuthRefusal(arrival.target, received) ??
    // The proxy forwards this as the client wrote it, too.
    (destination && forwardAuthRefusal(headers.destination ?? '', received))
  if (refused !== undefined) throw new Refusal(refused.refusal, { reason: refused.reason })
}

/** Envoy may join several headers of one name: two values look like one, and a service may use either. */
function refuseJoined({ headers: { destination } }: Received): void {
  if (!destination?.includes(',')) return
  throw new Refusal('bad-request', { reason: 'a Destination header with a comma' })
}

/**
 * nginx, Traefik and Caddy replace the headers of our response and forward all others: only Envoy can be
 * told to remove one.
 */
function refuseForged({ headers: { forged } }: Received): void {
  const [name] = forged ?? []
  if (name === undefined) return
  const reason = `a service may read the header ${name.slice(0, 64)} as one of Postern's`
  throw new Refusal('bad-request', { reason })
}

async function headersFor(
  authorized: Authorized,
  { identity, assertion, requestIdName }: CheckParts,
): Promise<readonly string[]> {
  const { received, token } = authorized
  const headers = [requestIdName, received.requestId]
  if (token !== undefined) headers.push(...identity(token))
  return [...headers, ...(await assertion(authorized, received.route?.upstream))]
}

/** Envoy sets the headers of our response and otherwise keeps those of the client. */
function removedNames(
  headers: readonly string[],
  authorized: Authorized,
  { identityNames }: CheckParts,
): string[] {
  const names = headers.filter((_, at) => at % 2 === 0)
  const removed = identityNames.filter((name) => !names.includes(name))
  if (!passesCarrier(authorized, 'header')) removed.push('Authorization')
  if (!passesCarrier(authorized, 'key')) {
    removed.push(...keyHeaders(authorized.received.route?.carriers))
  }
  return removed
}
