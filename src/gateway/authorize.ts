import { Refusal } from '../kernel/errors.ts'
import { type Decision, decide } from '../policy/decide.ts'
import type { CompiledPolicies } from '../policy/engine/compile.ts'
import { destinationQuestion, questionOf } from './question.ts'
import type { Authorized, Identified } from './stages.ts'

/**
 * Sees each decision of the policy, to count it or to compare it with that of another policy. Must
 * not throw, and runs on every request.
 */
export type Observe = (identified: Identified, decision: Decision) => void

/** One observer that calls both. */
export function combineObservers(
  first: Observe | undefined,
  second: Observe | undefined,
): Observe | undefined {
  if (first === undefined || second === undefined) return first ?? second
  return (identified, decision) => {
    first(identified, decision)
    second(identified, decision)
  }
}

/**
 * Asks the policy whether this caller may make this call. The reason of a refusal goes to the log,
 * not to the client.
 */
export function authorize(
  identified: Identified,
  policies: () => CompiledPolicies,
  observe?: Observe,
): Authorized {
  const { received, token, carrier, passed } = identified
  const { need, arrival } = received

  if (token === undefined)
    return { received, token, carrier, passed, grounds: 'public-route' } as Authorized
  if (need === 'identity') {
    return { received, token, carrier, passed, grounds: 'authenticated-route' } as Authorized
  }

  const question = questionOf(received, token)
  const compiled = policies()
  const askedAt = performance.now()
  const decision = decide(question, compiled)
  arrival.notes.decidingMs = performance.now() - askedAt
  arrival.notes.decision = decision
  if (question.domain !== undefined) arrival.notes.domain = question.domain
  observe?.(identified, decision)
  if (!decision.allowed) {
    const isLacking = compiled.hasDomain && question.domain === undefined
    throw new Refusal('not-permitted', { reason: isLacking ? 'no-domain' : decision.step })
  }
  const writing = destinationQuestion(question, received)
  if (writing !== undefined) {
    const second = decide(writing, compiled)
    if (!second.allowed) {
      // The decision log must not record a refused request as allowed.
      arrival.notes.decision = second
      arrival.notes.decidedPath = writing.path
      throw new Refusal('not-permitted', { reason: `${second.step}, for the Destination header` })
    }
  }
  return { received, token, carrier, passed, grounds: decision } as Authorized
}
