import { Refusal } from '../kernel/errors.ts'
import type { CompiledPolicies } from '../policy/engine/compile.ts'
import type { VerifiedToken } from '../token/tokens.ts'
import { inOriginForm } from './arrival/absolute-form.ts'
import type { Arrival } from './arrival/arrival.ts'
import { authorize, type Observe } from './authorize.ts'
import type { Cors } from './cors.ts'
import { after, type Eventually } from './eventually.ts'
import { type ForwardParts, forward } from './forward.ts'
import { relayWithEdits } from './headers/header-edits.ts'
import { type IdentifyParts, identify } from './identify.ts'
import { type ReceiveParts, receive } from './receive.ts'
import type { Reply } from './reply.ts'
import { replyFixed } from './reply-fixed.ts'
import type { SecurityHeaders } from './route/route.ts'
import type { RouteLimits } from './route/route-limits.ts'
import { type Authorized, type Identified, type Received, shapeOf } from './stages.ts'

/** Serves Postern's own endpoints: login and captcha to anyone, the rest to an authorized caller. */
export interface OwnResponses {
  toAnyone(received: Received, reply: Reply): Promise<void>
  toCaller(authorized: Authorized, reply: Reply): Promise<void>
}

export interface AdmitParts extends IdentifyParts {
  readonly limits: RouteLimits
  readonly policies: () => CompiledPolicies
  readonly observe?: Observe | undefined
  readonly onIdentified?: OnIdentified | undefined
  /** Revokes the token here at once; `everywhere`: the other gateways will learn of it too. */
  readonly revokeToken: (token: VerifiedToken) => Promise<'everywhere' | 'here'>
}

/** Sees each caller whom a gateway identified, whatever the route needs. Must not throw. */
export type OnIdentified = (identified: Identified) => void

/** `admit` below, or a wrapper of it, such as the one that records decisions. */
export type Admit = (received: Received, parts: AdmitParts) => Eventually<Authorized>

interface PipelineParts extends ReceiveParts, AdmitParts, ForwardParts {
  readonly admit: Admit
  readonly cors: Cors
  readonly responses: OwnResponses
  /** Replaces `relayHeaders` for the response of an upstream to a logout. */
  readonly relayLogoutHeaders: ForwardParts['relayHeaders']
}

/**
 * What happens to every request on the public port: receive, then identify and authorize (`admit`,
 * below), then forward. Each stage accepts only the type that the stage before it returns, so a
 * request that skips a check does not compile. A stage that refuses a request throws a Refusal.
 */
export function createPipeline(parts: PipelineParts) {
  return function pass(arrival: Arrival, reply: Reply): Eventually<void> {
    parts.cors.mark(arrival, reply)
    const received = receive(inOriginForm(arrival), parts)
    const shape = shapeOf(received)
    if (shape?.securityHeaders !== undefined) secure(reply, shape.securityHeaders, received)
    // A browser sends a preflight without a token, and no upstream sees it.
    if (parts.cors.isPreflight(received)) return parts.cors.answerPreflight(received, reply)
    if (received.endpoint?.open) return parts.responses.toAnyone(received, reply)
    return after(parts.admit(received, parts), (authorized) => {
      const { endpoint } = authorized.received
      const { rateLimit } = arrival.notes
      for (let at = 0; rateLimit !== undefined && at < rateLimit.length; at += 2) {
        reply.setHeader(rateLimit[at] as string, rateLimit[at + 1] as string)
      }
      if (endpoint !== undefined && endpoint.upstream === undefined) {
        return parts.responses.toCaller(authorized, reply)
      }
      if (shape?.fixed !== undefined) {
        const relay = relayWithEdits(received, parts.relayHeaders)
        return replyFixed(authorized, reply, shape.fixed, relay)
      }
      if (endpoint?.name !== 'logout') return forward(authorized, reply, parts)
      return forward(authorized, reply, { ...parts, relayHeaders: parts.relayLogoutHeaders })
    })
  }
}

/**
 * Both checks, with the addresses and rate limits of the route, for the public port and for
 * forward-auth. Throws or rejects with a Refusal unless the caller may make this call. A logout revokes
 * its token, whether Postern or an upstream answers it.
 */
export function admit(received: Received, parts: AdmitParts): Eventually<Authorized> {
  refuseAddress(received)
  parts.limits.byAddress(received)
  return after(identify(received, parts), (identified) => {
    parts.onIdentified?.(identified)
    parts.limits.byCaller(identified)
    const authorized = authorize(identified, parts.policies, parts.observe)
    const { token } = identified
    if (!isLogout(received) || token === undefined) return authorized
    return after(parts.revokeToken(token), (where) => {
      received.arrival.notes.revoked = where
      return authorized
    })
  })
}

/** Refusals have them too. A header of the same name from the upstream replaces ours. */
function secure(reply: Reply, headers: SecurityHeaders, { origin }: Received): void {
  for (const [name, value] of headers[origin.scheme]) reply.setHeader(name, value)
}

/** Before `identify`: a refused address learns nothing about tokens, and causes no signature check. */
function refuseAddress(received: Received): void {
  const accepts = shapeOf(received)?.acceptsAddress
  if (accepts === undefined || accepts(received.origin.address)) return
  throw new Refusal('address-not-allowed')
}

function isLogout({ endpoint }: Received): boolean {
  return endpoint?.name === 'logout' || endpoint?.name === 'page-logout'
}
