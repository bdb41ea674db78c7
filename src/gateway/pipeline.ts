import type { CompiledPolicies } from '../policy/engine/compile.ts'
import type { VerifiedToken } from '../token/tokens.ts'
import type { Arrival } from './arrival/arrival.ts'
import { authorize } from './authorize.ts'
import type { Cors } from './cors.ts'
import { type ForwardParts, forward } from './forward.ts'
import { type IdentifyParts, identify } from './identify.ts'
import { type ReceiveParts, receive } from './receive.ts'
import type { Reply } from './reply.ts'
import type { RouteLimits } from './route-limits.ts'
import type { Authorized, Identified, Received } from './stages.ts'

/** Answers to the endpoints that are ours: login and captcha to anybody, the rest to a caller. */
export interface OwnAnswers {
  toAnybody(received: Received, reply: Reply): Promise<void>
  toCaller(authorized: Authorized, reply: Reply): Promise<void>
}

export interface AdmitParts extends IdentifyParts {
  readonly limits: RouteLimits
  readonly policies: () => CompiledPolicies
  /** Ends the token here at once; says whether every other gateway will learn of it by itself. */
  readonly endToken: (token: VerifiedToken) => Promise<'everywhere' | 'here'>
}

/** Both checks, or the same with something besides, such as writing down what was decided. */
export type Admit = (received: Received, parts: AdmitParts) => Authorized | Promise<Authorized>

interface PipelineParts extends ReceiveParts, AdmitParts, ForwardParts {
  readonly admit: Admit
  readonly cors: Cors
  readonly answers: OwnAnswers
  /** In place of `relayHeaders` for the answer of an upstream to a logout. */
  readonly relayLogoutHeaders: ForwardParts['relayHeaders']
}

/**
 * What happens to every request on the public port: receive, then identify and authorize (`admit`,
 * below), then forward. Each stage accepts only what the stage before it returns, so none can be
 * skipped or moved. A stage that says no throws a Refusal; nothing below catches it.
 */
export function createPipeline(parts: PipelineParts) {
  return function pass(arrival: Arrival, reply: Reply): Promise<void> | void {
    parts.cors.mark(arrival, reply)
    const received = receive(arrival, parts)
    // A browser's question, asked without a token; no upstream hears of it.
    if (parts.cors.isPreflight(received)) return parts.cors.answerPreflight(received, reply)
    if (received.endpoint?.open) return parts.answers.toAnybody(received, reply)

    const admitted = parts.admit(received, parts)
    // What is known already is not waited for: that would cost every request a turn.
    return admitted instanceof Promise
      ? admitted.then((authorized) => fulfil(authorized, reply, parts))
      : fulfil(admitted, reply, parts)
  }
}

/** Whoever is let through gets an answer of ours, or that of the upstream. */
function fulfil(authorized: Authorized, reply: Reply, parts: PipelineParts): Promise<void> {
  const own = authorized.received.endpoint
  if (own !== undefined && own.upstream === undefined) {
    return parts.answers.toCaller(authorized, reply)
  }
  if (own?.name !== 'logout') return forward(authorized, reply, parts)
  return forward(authorized, reply, { ...parts, relayHeaders: parts.relayLogoutHeaders })
}

/**
 * Both checks, in their order and with the limits of the route, whoever forwards the request
 * afterwards. Throws or rejects with a Refusal unless the caller may make this call; gives the answer
 * at once where nothing has to be waited for. A logout ends its token.
 */
export function admit(received: Received, parts: AdmitParts): Authorized | Promise<Authorized> {
  parts.limits.byAddress(received)
  const identified = identify(received, parts)
  return identified instanceof Promise
    ? identified.then((caller) => permit(caller, parts))
    : permit(identified, parts)
}

function permit(identified: Identified, parts: AdmitParts): Authorized | Promise<Authorized> {
  parts.limits.byCaller(identified)
  const authorized = authorize(identified, parts.policies)
  const { received, token } = identified
  if (received.endpoint?.name !== 'logout' || token === undefined) return authorized

  // Whoever answers a logout, the token is over.
  return parts.endToken(token).then((where) => {
    received.arrival.notes.ended = where
    return authorized
  })
}
