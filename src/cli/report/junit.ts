import { printable } from '../format.ts'
import { type Case, isFailing, placeOf, type Report, type Result, type Suite } from './report.ts'

/** JUnit XML, which CI systems show as test results. */
export function formatJunit(report: Report): string {
  const suites = report.suites ?? [suiteOf(report)]
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="postern ${report.command}" ${counts(suites.flatMap(({ cases }) => cases))}>`,
    ...suites.flatMap(({ name, cases }) => [
      `  <testsuite name="${escapeXml(name)}" ${counts(cases)}>`,
      ...cases.map(formatCase),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n')
}

/** A case for each rule, which fails with the results that make the command fail. */
function suiteOf(report: Report): Suite {
  const { command, rules, isUnanswered } = report
  const found = Map.groupBy(report.results, ({ rule }) => rule)
  const cases = Object.keys(rules).map((name): Case => {
    const results = found.get(name) ?? []
    const failing = results.filter((each) => isFailing(each, report)).map(inOneLine)
    const notes = results.filter((each) => !isFailing(each, report)).map(inOneLine)
    return { name, className: command, notes, [isUnanswered ? 'errors' : 'failures']: failing }
  })
  return { name: command, cases }
}

function inOneLine(result: Result): string {
  const place = placeOf(result)
  return place ? `${place}: ${result.message}` : result.message
}

function counts(cases: readonly Case[]): string {
  const having = (part: 'failures' | 'errors') =>
    cases.filter((each) => (each[part] ?? []).length > 0).length
  return `tests="${cases.length}" failures="${having('failures')}" errors="${having('errors')}"`
}

function formatCase({ name, className, file, line, ...found }: Case): string {
  const { failures = [], errors = [], notes = [] } = found
  const attributes = [
    `classname="${escapeXml(className)}" name="${escapeXml(name)}"`,
    ...(file === undefined ? [] : [`file="${escapeXml(file)}"`]),
    ...(line === undefined ? [] : [`line="${line}"`]),
  ].join(' ')
  const parts = [
    ...formatPart('failure', failures),
    ...formatPart('error', errors),
    ...(notes.length === 0 ? [] : [`      <system-out>${textOf(notes)}</system-out>`]),
  ]
  if (parts.length === 0) return `    <testcase ${attributes}/>`
  return [`    <testcase ${attributes}>`, ...parts, '    </testcase>'].join('\n')
}

/** The first line is the message, which CI systems show before the reader opens the case. */
function formatPart(element: string, lines: readonly string[]): readonly string[] {
  const [first] = lines
  if (first === undefined) return []
  return [`      <${element} message="${escapeXml(first)}">${textOf(lines)}</${element}>`]
}

function textOf(lines: readonly string[]): string {
  return lines.map(escapeXml).join('\n')
}

/** XML 1.0 cannot hold control characters, not even escaped, nor lone surrogates and U+FFFE. */
function escapeXml(text: string): string {
  return printable(text)
    .toWellFormed()
    .replaceAll(/[\ufffe\uffff]/g, '?')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
