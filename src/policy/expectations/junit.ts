import { formatProblem, type Problem } from '../../errors.ts'
import { describeExpectation, describeFailure, type Outcome } from './test-suite.ts'

/**
 * The outcomes as a JUnit report, a suite for each test file: what CI systems show. Problems that
 * kept the tests from running are errors in a suite of their own.
 */
export function formatJunit(
  outcomes: readonly Outcome[],
  problems: readonly Problem[] = [],
): string {
  const suites = Map.groupBy(outcomes, ({ expectation }) => expectation.at.file)
  const counts = (some: readonly Outcome[], errors = 0) => {
    const failures = some.filter(({ passed }) => !passed).length
    return `tests="${some.length + errors}" failures="${failures}" errors="${errors}"`
  }
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="postern policy test" ${counts(outcomes, problems.length)}>`,
    ...Array.from(suites, ([file, some]) => [
      `  <testsuite name="${escapeXml(file)}" ${counts(some)}>`,
      ...some.map(formatCase),
      '  </testsuite>',
    ]).flat(),
    ...(problems.length === 0
      ? []
      : [
          `  <testsuite name="invalid files" ${counts([], problems.length)}>`,
          ...problems.map(formatError),
          '  </testsuite>',
        ]),
    '</testsuites>',
    '',
  ].join('\n')
}

function formatError(problem: Problem): string {
  const { file, line = 1 } = problem
  const message = escapeXml(formatProblem(problem))
  const opening = `    <testcase classname="${escapeXml(file)}" name="${escapeXml(file)} (line ${line})"`
  return `${opening}>\n      <error message="${message}">${message}</error>\n    </testcase>`
}

function formatCase(outcome: Outcome): string {
  const { at } = outcome.expectation
  const name = `${describeExpectation(outcome)} (line ${at.line})`
  const opening = `    <testcase classname="${escapeXml(at.file)}" name="${escapeXml(name)}" file="${escapeXml(at.file)}" line="${at.line}"`
  if (outcome.passed) return `${opening}/>`
  const message = escapeXml(describeFailure(outcome))
  return `${opening}>\n      <failure message="${message}">${message}</failure>\n    </testcase>`
}

/** Characters that XML 1.0 cannot hold are shown as a question mark. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '?')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;')
}
