import type { Review } from '../../operations/policy/review.ts'
import type { TestReport } from '../../operations/policy/run-tests.ts'
import {
  describeExpectation,
  describeFailure,
  type Outcome,
} from '../../policy/expectations/test-suite.ts'
import type { Exclusion, Rule } from '../../policy/rule/rule.ts'
import type { Case, Report, ReportRule, Result, Suite } from '../report/report.ts'
import { reviewResults } from './check-report.ts'
import { findingRules } from './finding-rules.ts'

const testRules = {
  'test-failed': {
    summary: 'A policy test failed.',
    help: 'The gateway would answer this call differently. Fix the policy, or change the test if the new answer is intended.',
  },
  'no-tests': {
    summary: 'The policy has no tests.',
    help: 'Write tests in tests/*_test.yaml of the policy directory.',
  },
  'coverage-too-low': {
    summary: 'Tests cover too few rules.',
    help: 'Write a test that each uncovered rule or exclusion decides, or lower the required coverage.',
  },
  'not-covered': {
    summary: 'No test covers this rule or exclusion.',
    help: 'Write a test that it decides. Otherwise a later edit can remove or widen it unnoticed.',
  },
} as const satisfies Record<string, ReportRule>

/** The tests of a policy directory, for the formats that CI systems read. */
export function testReport(
  review: Review,
  { outcomes, failures, coverage }: TestReport,
  { min, summary }: { readonly min: number; readonly summary: readonly string[] },
): Report {
  const missing = missingIn(review.directory.name, { outcomes, coverage, min })
  const untested = [...coverage.rules.undecided, ...coverage.exclusions.undecided]
  const results = [
    ...failures.map(failureResult),
    ...missing,
    ...reviewResults(review),
    ...untested.filter(({ origin }) => origin.line > 0).map(untestedResult),
  ]
  const isPassed = failures.length === 0 && missing.length === 0
  return {
    command: 'policy test',
    verdict: isPassed ? 'passed' : 'failed',
    summary,
    failsAt: 'error',
    rules: { ...testRules, ...findingRules },
    results,
    suites: [...suitesOf(outcomes), ...requirements(missing, min)],
  }
}

function failureResult(outcome: Outcome): Result {
  const { at } = outcome.expectation
  const message = describeFailure(outcome)
  return { rule: 'test-failed', level: 'error', message, ...at, text: describeExpectation(outcome) }
}

function untestedResult(granted: Rule | Exclusion): Result {
  const text = describeGranted(granted)
  const message = `not covered: ${text}`
  return { rule: 'not-covered', level: 'note', message, ...granted.origin, text }
}

/** Tests that the directory should have. */
function missingIn(
  file: string,
  { outcomes, coverage, min }: Pick<TestReport, 'outcomes' | 'coverage'> & { readonly min: number },
): readonly Result[] {
  const result = (rule: string, message: string): Result => ({
    rule,
    level: 'error',
    message,
    file,
  })
  const { percent } = coverage
  const low = `coverage is ${percent} %, below the required ${min} %`
  return [
    ...(outcomes.length > 0 ? [] : [result('no-tests', 'the directory has no tests')]),
    ...(percent < min ? [result('coverage-too-low', low)] : []),
  ]
}

/** A suite for each test file. */
function suitesOf(outcomes: readonly Outcome[]): readonly Suite[] {
  const files = Map.groupBy(outcomes, ({ expectation }) => expectation.at.file)
  return Array.from(files, ([name, some]) => ({ name, cases: some.map(caseOf) }))
}

function caseOf(outcome: Outcome): Case {
  const { file, line } = outcome.expectation.at
  const name = `${describeExpectation(outcome)} (line ${line})`
  const failures = outcome.passed ? [] : [describeFailure(outcome)]
  return { name, className: file, file, line, failures }
}

/** What a policy must have besides passing tests. */
function requirements(missing: readonly Result[], min: number): readonly Suite[] {
  const required = [
    ...(min > 0 ? ['coverage-too-low'] : []),
    ...(missing.some(({ rule }) => rule === 'no-tests') ? ['no-tests'] : []),
  ]
  if (required.length === 0) return []
  const cases = required.map((name) => ({
    name,
    className: 'requirements',
    failures: missing.filter(({ rule }) => rule === name).map(({ message }) => message),
  }))
  return [{ name: 'requirements', cases }]
}

/** `viewer GET /orders`, or all columns under a model that Casbin evaluates. */
export function describeGranted(granted: Rule | Exclusion): string {
  const { method, path } = granted
  if (!('roleKey' in granted)) return `everyone ${method} ${path}`
  return granted.fields?.join(' ') ?? `${granted.roleKey} ${method} ${path}`
}
