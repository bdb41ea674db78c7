import { decide } from './decide.ts'
import type { CompiledPolicies, Decision, NearMiss, Question } from './engine/decision.ts'

export type { NearMiss } from './engine/decision.ts'

/** A decision and, when it denies, the allow rules that came closest. */
interface Explanation {
  readonly decision: Decision
  /** Rules of the caller's roles for another method, and rules of other roles for this call. */
  readonly nearMisses: readonly NearMiss[]
}

/** Decides as `decide` does and finds what would have allowed the call. Too slow for every request. */
export function explain(question: Question, policies: CompiledPolicies): Explanation {
  const decision = decide(question, policies)
  const nearMisses = decision.allowed ? [] : policies.engine.nearMisses(question, mostNearMisses)
  return { decision, nearMisses }
}

/** More than a person reads; the first ones in the order of the files. */
const mostNearMisses = 20
