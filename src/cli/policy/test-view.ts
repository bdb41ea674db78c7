import { Invalid } from '../../kernel/errors.ts'
import type { DocumentOf } from '../../operations/operation.ts'
import type { policyTest } from '../../operations/policy/check-descriptions.ts'
import type { TestedCase } from '../../operations/policy/run-tests.ts'
import type { TestExtras } from '../../operations/policy/test.ts'
import { count, printable } from '../format.ts'
import { failureReport } from '../report/failure.ts'
import type { Case, Result, Suite } from '../report/report.ts'
import reportRules from '../report/rules.json' with { type: 'json' }
import { type ReportingOf, reportView } from '../report/write.ts'
import { noteLines } from '../view.ts'
import { findingResults } from './check-view.ts'
import { findingRules, formatFindings } from './findings.ts'

type Tests = Extract<DocumentOf<typeof policyTest>, { readonly tests: number }>

/** A rule or an exclusion. */
type Granted = Pick<Rule, 'method' | 'path' | 'origin'> & Partial<Pick<Rule, 'roleKey' | 'fields'>>
type Rule = Tests['coverage']['rules']['undecided'][number]

interface Covered {
  readonly total: number
  readonly decided: number
  readonly undecided: readonly Granted[]
}

/** What a report about tests shows. */
interface Tested {
  readonly tests: number
  readonly failures: readonly Omit<Tests['failures'][number], 'expectation' | 'decision'>[]
  readonly coverage: {
    readonly rules: Covered
    readonly exclusions: Covered
    readonly percent: number
  }
  readonly untested?: Tests['untested']
}

const parts: ReportingOf<typeof policyTest, TestExtras> = {
  text: ({ document }) => ('errors' in document ? '' : formatReport(document.directory, document)),
  before({ document, notes = [] }, _, output) {
    if ('errors' in document) {
      return output === 'json' || output === 'github'
        ? ''
        : formatFindings('error', document.errors)
    }
    const { directory, warnings } = document
    if (output === 'json') return ''
    if (output === 'github') return noteLines(notes)
    const text = output === 'text' ? '' : formatReport(directory, document)
    return formatFindings('warning', warnings) + noteLines(notes) + text
  },
  err({ document }, { 'min-coverage': min }) {
    if ('errors' in document || document.coverage.percent >= min) return ''
    return `${tooLow(document.coverage, min)}\n`
  },
  report({ document, notes = [], shown }, { 'min-coverage': min }) {
    if ('errors' in document) return failureReport('policy test', new Invalid(document.errors))
    const { directory, failed, coverage } = document
    const cases = shown?.cases ?? []
    const missing = missingIn(document, min)
    const untested = untestedIn(coverage).filter(({ origin }) => origin.line > 0)
    return {
      command: 'policy test',
      verdict: failed === 0 && missing.length === 0 ? 'passed' : 'failed',
      summary: [...summarize(directory, document), ...notes.map((note) => `note: ${note}`)],
      failsAt: 'error',
      rules: { ...reportRules['policy test'], ...findingRules },
      results: [
        ...cases.flatMap(failureResult),
        ...missing,
        ...findingResults(document, shown),
        ...untested.map(untestedResult),
      ],
      suites: [...suitesOf(cases), ...requirements(missing, min)],
    }
  },
}
export const policyTestView = reportView(parts)

/** Failures, a line each, then what was tested and what was not. */
export function formatReport(name: string, report: Tested): string {
  const { failures, coverage } = report
  if (report.tests === 0) return `${summarize(name, report)}\n`
  const untested = untestedIn(coverage)
  return [
    ...failures.map(({ file, line, column, message }) => {
      return `${printable(`${file}:${line}:${column}: failed: ${message}`)}\n`
    }),
    ...summarize(name, report).map((line) => `${line}\n`),
    ...untested.slice(0, maxShown).map((each) => {
      return `  not covered: ${printable(`${placeOf(each)}: ${describeGranted(each)}`)}\n`
    }),
    untested.length > maxShown ? `  … and ${untested.length - maxShown} more\n` : '',
    ...untestedLines(report),
  ].join('')
}

const maxShown = 20

function untestedLines({ untested }: Tested): readonly string[] {
  if (untested === undefined) return []
  const { routes, operations, routeCount, operationCount } = untested
  const named = [
    ...routes.map((route) => `route ${route}`),
    ...operations.map((each) => `${placeOf(each)}: ${each.method} ${each.path}`),
  ]
  const tested = [routeCount - routes.length, operationCount - operations.length]
  return [
    `tested: ${tested[0]}/${routeCount} routes, ${tested[1]}/${operationCount} operations\n`,
    ...named.slice(0, maxShown).map((each) => `  no test: ${printable(each)}\n`),
    ...(named.length > maxShown ? [`  … and ${named.length - maxShown} more\n`] : []),
  ]
}

/** How many tests passed, and how much of the policy they cover. */
function summarize(name: string, { tests, failures, coverage }: Tested): readonly string[] {
  if (tests === 0) return [`${name}: no tests in ${name}/tests/*_test.yaml`]
  const { rules, exclusions, percent } = coverage
  const passed = tests - failures.length
  return [
    `${name}: ${count(tests, 'test')}, ${passed} passed, ${failures.length} failed`,
    `coverage: ${percent} % (${rules.decided}/${rules.total} rules, ${exclusions.decided}/${exclusions.total} exclusions)`,
  ]
}

function untestedIn({ rules, exclusions }: Tested['coverage']): readonly Granted[] {
  return [...rules.undecided, ...exclusions.undecided]
}

function tooLow({ percent }: Tested['coverage'], min: number): string {
  return `coverage is ${percent} %, below the required ${min} %`
}

function failureResult({ at, text, failure }: TestedCase): readonly Result[] {
  if (failure === undefined) return []
  return [{ rule: 'test-failed', level: 'error', message: failure, ...at, text }]
}

function untestedResult(granted: Granted): Result {
  const text = describeGranted(granted)
  return {
    rule: 'not-covered',
    level: 'note',
    message: `not covered: ${text}`,
    ...granted.origin,
    text,
  }
}

/** Tests that the directory should have. */
function missingIn({ directory: file, tests, coverage }: Tests, min: number): readonly Result[] {
  const result = (rule: string, message: string): Result => {
    return { rule, level: 'error', message, file }
  }
  return [
    ...(tests > 0 ? [] : [result('no-tests', 'the directory has no tests')]),
    ...(coverage.percent < min ? [result('coverage-too-low', tooLow(coverage, min))] : []),
  ]
}

/** A suite for each test file. */
function suitesOf(cases: readonly TestedCase[]): readonly Suite[] {
  const files = Map.groupBy(cases, ({ at }) => at.file)
  return Array.from(files, ([name, some]) => ({ name, cases: some.map(caseOf) }))
}

function caseOf({ at: { file, line }, text, failure }: TestedCase): Case {
  const failures = failure === undefined ? [] : [failure]
  return { name: `${text} (line ${line})`, className: file, file, line, failures }
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

function placeOf({ origin: { file, line } }: Pick<Granted, 'origin'>): string {
  return `${file}:${line}`
}

/** `viewer GET /orders`, or all columns under a model that Casbin evaluates. */
function describeGranted(granted: Granted): string {
  const { method, path, roleKey = 'everyone', fields } = granted
  return fields?.join(' ') ?? `${roleKey} ${method} ${path}`
}
