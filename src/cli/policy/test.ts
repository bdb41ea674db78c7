import { Invalid } from '../../kernel/errors.ts'
import { reviewVersion } from '../../operations/policy/review.ts'
import { runTests, type TestReport, testsDocument } from '../../operations/policy/run-tests.ts'
import { readSurroundings } from '../../operations/policy/surroundings.ts'
import { policySettings } from '../../operations/policy-settings.ts'
import { describeFailure } from '../../policy/expectations/test-suite.ts'
import type { Exclusion, Rule } from '../../policy/rule/rule.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, json, printable } from '../format.ts'
import { failureReport } from '../report/failure.ts'
import { isReportFormat, renderReport } from '../report/write.ts'
import { datedJson } from './dated-json.ts'
import { formatFindings } from './findings.ts'
import type { testSpec } from './specs.ts'
import { describeGranted, testReport } from './test-report.ts'

/** Runs the tests of a policy directory against it, with the code that decides in the gateway. */
export const policyTest: Run<typeof testSpec> = async ({ options, arguments: [named] }, io) => {
  const { output, 'min-coverage': min } = options
  const settings = policySettings(options.config, io)
  const { admission, note } = settings.admission()
  const name = named ?? settings.directory
  const review = await reviewVersion(name, { settings, io }, () =>
    readSurroundings(settings, options, io),
  )
  const report = runTests(review, admission, io)
  if (report === undefined) {
    if (output === 'json') io.out(json({ ok: false, directory: name, errors: review.errors }))
    else if (output !== 'github') io.err(formatFindings('error', review.errors))
    if (isReportFormat(output)) {
      const failure = failureReport('policy test', new Invalid(review.errors))
      io.out(renderReport(failure, output, io))
    }
    return exitCodes.invalid
  }

  const notes = formatNotes(report, note)
  const ok = report.failures.length === 0 && report.outcomes.length > 0
  const covered = report.coverage.percent >= min
  if (output === 'json') io.out(datedJson({ ok: ok && covered, ...testsDocument(review, report) }))
  else {
    const warnings = output === 'github' ? '' : formatFindings('warning', review.warnings)
    io.err(warnings + notes)
  }
  if (output === 'text') io.out(formatReport(name, report))
  if (isReportFormat(output)) {
    // The document goes to a file, and the log of the job shows the text.
    if (output !== 'github') io.err(formatReport(name, report))
    const summary = [...summarize(name, report), ...notes.split('\n').filter((line) => line !== '')]
    io.out(renderReport(testReport(review, report, { min, summary }), output, io))
  }
  if (!covered) io.err(`coverage is ${report.coverage.percent} %, below the required ${min} %\n`)
  return ok && covered ? exitCodes.done : exitCodes.testsFailed
}

/** What the results do not show: unknown routes, and tested paths that no route matches. */
export function formatNotes({ outcomes }: TestReport, note: string | undefined): string {
  const unserved = new Set(
    outcomes
      .filter(({ decision }) => decision.allowed && decision.isUnserved === true)
      .map(({ expectation }) => expectation.path),
  )
  const [first] = unserved
  return [
    note === undefined ? '' : `note: ${printable(note)}\n`,
    first === undefined
      ? ''
      : `note: no route matches ${count(unserved.size, 'tested path')}, for example ${printable(first)}: permitted callers get 404\n`,
  ].join('')
}

/** Failures, a line each, then what was tested and what was not. */
export function formatReport(name: string, report: TestReport): string {
  const { outcomes, failures, coverage } = report
  if (outcomes.length === 0) return `${summarize(name, report)}\n`
  const { rules, exclusions } = coverage
  const failed = failures.map((outcome) => {
    const { file, line, column } = outcome.expectation.at
    return `${printable(`${file}:${line}:${column}: failed: ${describeFailure(outcome)}`)}\n`
  })
  const untested = [...rules.undecided, ...exclusions.undecided]
  return [
    ...failed,
    ...summarize(name, report).map((line) => `${line}\n`),
    ...untested.slice(0, maxShown).map((each) => `  not covered: ${printable(inOneLine(each))}\n`),
    untested.length > maxShown ? `  … and ${untested.length - maxShown} more\n` : '',
  ].join('')
}

const maxShown = 20

/** How many tests passed, and how much of the policy they cover. */
function summarize(name: string, { outcomes, failures, coverage }: TestReport): readonly string[] {
  if (outcomes.length === 0) return [`${name}: no tests in ${name}/tests/*_test.yaml`]
  const { rules, exclusions, percent } = coverage
  const passed = outcomes.length - failures.length
  return [
    `${name}: ${count(outcomes.length, 'test')}, ${passed} passed, ${failures.length} failed`,
    `coverage: ${percent} % (${rules.decided}/${rules.total} rules, ${exclusions.decided}/${exclusions.total} exclusions)`,
  ]
}

function inOneLine(granted: Rule | Exclusion): string {
  return `${granted.origin.file}:${granted.origin.line}: ${describeGranted(granted)}`
}
