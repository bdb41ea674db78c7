import type { CompiledPolicies, Decision, Question } from './engine/decision.ts'

export type { Decision, Question } from './engine/decision.ts'

/** The only role key that skips the permission check; any other spelling is an ordinary role. */
export const adminKey = 'admin'

/**
 * Decides by one revision: `admin`, then the exclusion list, then the rules; otherwise deny. Returns
 * shared, frozen decisions. Throws only a Fault, when an engine fails. The path must be canonical.
 */
export function decide(question: Question, policies: CompiledPolicies): Decision {
  // Spec, Authentication 5a, 5b, 5d, in this order.
  if (question.roleKey === adminKey) return policies.admin
  return policies.excluded(question) ?? policies.engine.decide(question) ?? policies.none
}
