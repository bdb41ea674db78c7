import { decide } from './decide.ts'
import type { CompiledPolicies, Question } from './engine/decision.ts'

export type { NearMiss } from './engine/decision.ts'

/**
 * Decides as `decide` does and, when it denies, finds the allow rules that came closest: those of the
 * caller's roles for another method, and those of other roles for this call. Too slow for every request.
 */
export function explain(question: Question, policies: CompiledPolicies) {
  const decision = decide(question, policies)
  const nearMisses = decision.allowed ? [] : policies.engine.nearMisses(question, mostNearMisses)
  return { decision, nearMisses }
}

/** More than a person reads; the first ones in the order of the files. */
const mostNearMisses = 20
