import { describeExpectation, describeFailure, type Outcome } from './test-suite.ts'

/** The outcomes as a JUnit report, a suite for each test file: what CI systems show. */
export function formatJunit(outcomes: readonly Outcome[]): string {
  const suites = Map.groupBy(outcomes, ({ expectation }) => expectation.at.file)
  const counts = (some: readonly Outcome[]) => {
    const failures = some.filter(({ passed }) => !passed).length
    return `tests="${some.length}" failures="${failures}" errors="0"`
  }
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="postern policy test" ${counts(outcomes)}>`,
    ...Array.from(suites, ([file, some]) => [
      `  <testsuite name="${escapeXml(file)}" ${counts(some)}>`,
      ...some.map(formatCase),
      '  </testsuite>',
    ]).flat(),
    '</testsuites>',
    '',
  ].join('\n')
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
