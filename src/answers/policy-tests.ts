import { type Admission, evaluate, evaluateUnidentified } from '../admission/verdict.ts'
import { Invalid, type Problem } from '../kernel/errors.ts'
import { compile } from '../policy/engine/compile.ts'
import { parseTestFile } from '../policy/expectations/test-file.ts'
import {
  type Answer,
  describeFailure,
  runExpectations,
  type TestQuestion,
} from '../policy/expectations/test-suite.ts'
import type { PolicyFile, PolicySet } from '../policy/set/policy-set.ts'
import { guardrailProblems } from './guard.ts'

/**
 * Answers as the gateway does for a caller with a valid token, or without one, at the time of the
 * question. All questions without a time have the same one, so that a run does not change midway.
 */
export function createAsk(
  admission: Admission,
  set: PolicySet,
  now: number,
): (question: TestQuestion) => Answer {
  let clock = now
  const policies = compile(set, () => clock)
  return ({ roleKey, time = now, ...call }: TestQuestion): Answer => {
    clock = time
    const { allowed, step, decision, isUnserved } =
      roleKey === undefined
        ? evaluateUnidentified(call, 'token-missing', admission)
        : evaluate({ roleKey, ...call }, admission, policies)
    const { rule, exclusion } = decision ?? {}
    return {
      ...{ allowed, step, revision: policies.revision },
      ...(rule !== undefined && { rule }),
      ...(exclusion !== undefined && { exclusion }),
      ...(isUnserved && { isUnserved }),
    }
  }
}

/**
 * The failing expectations of test files and the broken guardrails, in words, for a policy that no
 * person looks at before it becomes active. Throws `Invalid` when a file is not valid.
 */
export function failingTests(
  set: PolicySet,
  files: readonly PolicyFile[],
  admission: Admission,
): readonly Problem[] {
  const problems: Problem[] = []
  const expectations = files.flatMap((file) =>
    parseTestFile(file, (problem) => problems.push(problem)),
  )
  if (problems.length > 0) throw new Invalid(problems)
  const now = Date.now()
  const failing = runExpectations(expectations, createAsk(admission, set, now))
    .filter(({ passed }) => !passed)
    .map((outcome) => ({
      ...outcome.expectation.at,
      message: `test failed: ${describeFailure(outcome)}`,
    }))
  return [...failing, ...guardrailProblems({ set, admission, expectations, now })]
}
