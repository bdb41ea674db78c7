import type { Admission } from '../../admission/verdict.ts'
import { createAsk } from '../../answers/policy-tests.ts'
import { count } from '../../kernel/count.ts'
import { type Coverage, coverageOf } from '../../policy/expectations/coverage.ts'
import {
  describeExpectation,
  describeFailure,
  type Outcome,
  runExpectations,
} from '../../policy/expectations/test-suite.ts'
import { formatUntil } from '../../policy/rule/until.ts'
import type { Surroundings } from '../context.ts'
import { withProgress } from '../progress.ts'
import type { Review } from './review.ts'

/** The result of the tests of a policy. */
export interface TestReport {
  readonly outcomes: readonly Outcome[]
  readonly failures: readonly Outcome[]
  readonly coverage: Coverage
}

/** Runs all tests; `undefined` when the policy or a test file is not valid. */
export function runTests(
  { set, expectations }: Pick<Review, 'set' | 'expectations'>,
  admission: Admission,
  io: Surroundings,
): TestReport | undefined {
  if (set === undefined) return undefined
  const ask = createAsk(admission, set, io.now?.() ?? Date.now())
  const outcomes = withProgress('testing', io, (tick) => runExpectations(expectations, ask, tick))
  const failures = outcomes.filter(({ passed }) => !passed)
  return { outcomes, failures, coverage: coverageOf(set, outcomes) }
}

/** A report as documents have it. */
export function testsDocument({ directory, set, warnings }: Review, report: TestReport) {
  const about = { directory: directory.name, revision: set?.revision ?? '' }
  return { ...about, ...tested(report), warnings }
}

/** What came of the tests. */
export function tested({ outcomes, failures, coverage }: TestReport) {
  return {
    tests: outcomes.length,
    failed: failures.length,
    failures: failures.map((outcome) => {
      const { at, time, ...rest } = outcome.expectation
      const expectation = { ...rest, ...(time !== undefined && { at: formatUntil(time) }) }
      const { decision } = outcome
      return { ...at, expectation, decision, message: describeFailure(outcome) }
    }),
    coverage,
  }
}

export type TestedCase = ReturnType<typeof testedCase>

/** A test in words. `failure`: what went wrong; absent: it passed. */
export function testedCase(outcome: Outcome) {
  const text = describeExpectation(outcome)
  const { at } = outcome.expectation
  return { at, text, ...(!outcome.passed && { failure: describeFailure(outcome) }) }
}

/** What the results do not show: unknown routes, and tested paths that no route matches. */
export function testNotes({ outcomes }: TestReport, note: string | undefined): readonly string[] {
  const unserved = new Set(
    outcomes
      .filter(({ decision }) => decision.allowed && decision.isUnserved === true)
      .map(({ expectation }) => expectation.path),
  )
  const [first] = unserved
  const paths = count(unserved.size, 'tested path')
  return [
    ...(note === undefined ? [] : [note]),
    ...(first === undefined
      ? []
      : [`no route matches ${paths}, for example ${first}: permitted callers get 404`]),
  ]
}
