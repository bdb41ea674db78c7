import type { ServerResponse } from 'node:http'
import { type AdmitParts, admit } from './admit.ts'
import { type ForwardParts, forward } from './forward.ts'
import { type ReceiveParts, receive } from './receive.ts'
import type { Arrival, Authorized, Received } from './stages.ts'

/** Answers to the endpoints that are ours: login and captcha to anybody, the rest to a caller. */
export interface OwnAnswers {
  toAnybody(received: Received, reply: ServerResponse): Promise<void>
  toCaller(authorized: Authorized, reply: ServerResponse): Promise<void>
}

export interface PipelineParts extends ReceiveParts, AdmitParts, ForwardParts {
  readonly answers: OwnAnswers
  /** In place of `relayHeaders` for the answer of an upstream to a logout. */
  readonly relayLogoutHeaders: ForwardParts['relayHeaders']
}

/**
 * What happens to every request on the public port: receive, identify and authorize (both in
 * `admit`), forward. Each stage accepts only what the stage before it returns, so none can be
 * skipped or moved. A stage that says no throws a Refusal; nothing below catches it.
 */
export function createPipeline(parts: PipelineParts) {
  return async function pass(arrival: Arrival, reply: ServerResponse): Promise<void> {
    const received = receive(arrival, parts)
    const own = received.endpoint
    if (own?.open) return parts.answers.toAnybody(received, reply)

    const authorized = await admit(received, parts)
    if (own !== undefined && own.upstream === undefined) {
      return parts.answers.toCaller(authorized, reply)
    }
    if (own?.name !== 'logout') return forward(authorized, reply, parts)
    return forward(authorized, reply, { ...parts, relayHeaders: parts.relayLogoutHeaders })
  }
}
