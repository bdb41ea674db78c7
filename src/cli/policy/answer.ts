import { type Admission, evaluate } from '../../admission/verdict.ts'
import type { CompiledPolicies, Question } from '../../policy/engine/decision.ts'
import type { Answer } from '../../policy/expectations/test-suite.ts'

/** Answers questions of tests as the gateway answers callers with a valid token. */
export function createAsk(admission: Admission, policies: CompiledPolicies) {
  return (question: Question): Answer => {
    const { allowed, step, decision, isUnserved } = evaluate(question, admission, policies)
    const { rule, exclusion } = decision ?? {}
    return {
      ...{ allowed, step, revision: policies.revision },
      ...(rule !== undefined && { rule }),
      ...(exclusion !== undefined && { exclusion }),
      ...(isUnserved && { isUnserved }),
    }
  }
}
