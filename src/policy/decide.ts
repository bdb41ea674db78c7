import type { CompiledPolicies, Decision, Question } from './engine/decision.ts'

export type { Decision, Question } from './engine/decision.ts'

/** The one role key that passes without a permission check; any other spelling is a plain role. */
const adminKey = 'admin'

/**
 * Answers a question by one revision: `admin`, then the exclusion list, then the rules, and without
 * any of them no. Hands out decisions that are shared and frozen; throws only a Fault, when an engine
 * breaks. The path has to be canonical.
 */
export function decide(question: Question, policies: CompiledPolicies): Decision {
  // Spec, Authentication 5a, 5b, 5d, in this order.
  if (question.roleKey === adminKey) return policies.admin
  return policies.excluded(question) ?? policies.engine.decide(question) ?? policies.none
}
