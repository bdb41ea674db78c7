import { type Admission, judge } from '../admission/verdict.ts'
import type { CompiledPolicies, Question } from '../policy/decision.ts'
import type { Answer } from '../policy/test-suite.ts'

/** Answers questions of tests as the gateway answers callers with a valid token. */
export function createAsk(admission: Admission, policies: CompiledPolicies) {
  return (question: Question): Answer => {
    const { allowed, step, decision, isUnserved } = judge(question, admission, policies)
    const { rule, exclusion } = decision ?? {}
    return {
      ...{ allowed, step, revision: policies.revision },
      ...(rule !== undefined && { rule }),
      ...(exclusion !== undefined && { exclusion }),
      ...(isUnserved && { isUnserved }),
    }
  }
}
