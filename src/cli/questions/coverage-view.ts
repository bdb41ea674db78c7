import type { DocumentOf } from '../../operations/operation.ts'
import type { policyCoverage } from '../../operations/policy/check-descriptions.ts'
import type { CoverageExtras } from '../../operations/policy/coverage.ts'
import { count, formatTable, printable } from '../format.ts'
import { type Result, rulesOf } from '../report/report.ts'
import reportRules from '../report/rules.json' with { type: 'json' }
import { type ReportingOf, reportView } from '../report/write.ts'
import { noteLines } from '../view.ts'

type Document = DocumentOf<typeof policyCoverage>
type Finding = Document['findings'][number]
type Unmatched = Document['unmatched'][number]
type Granted = Omit<Unmatched, 'isOutside' | 'nearest'>

/** Documents and a policy, compared. */
const parts: ReportingOf<typeof policyCoverage, CoverageExtras> = {
  text: ({ document, shown }) => formatCovered(document, shown?.commonPath ?? ''),
  before: ({ document }, _, output) => (output === 'json' ? '' : noteLines(document.notes)),
  report({ document, shown }, { strict }) {
    const { findings, unmatched, prefixRules, ok } = document
    const failing = failingIn(document)
    // A published policy has lines, but no files here.
    const placeIn = ({ origins: [first] }: Granted) =>
      shown?.hasFiles && first !== undefined ? { file: first.file, line: first.line } : {}
    return {
      command: 'policy coverage',
      verdict:
        failing === 0 ? 'every operation has callers' : `${count(failing, 'operation')} to look at`,
      summary: summaryLines(document),
      failsAt: strict && !ok ? 'warning' : 'error',
      rules,
      results: [
        ...findings.map(findingResult),
        ...unmatched.map((granted): Result => {
          const rule = granted.isOutside ? 'rule-of-other-paths' : 'rule-without-operation'
          const hint = nearestText(granted)
          const message = `${grantText(granted)} matches no operation${hint && `; ${hint}`}`
          return { rule, level: 'note', message, ...placeIn(granted) }
        }),
        ...prefixRules.map((granted): Result => {
          const message = `${grantText(granted)} ${matches(granted)}`
          return { rule: 'rule-with-prefix', level: 'note', message, ...placeIn(granted) }
        }),
      ],
    }
  },
}
export const policyCoverageView = reportView(parts)

/** Everything that was found, for a person. */
function formatCovered(document: Document, commonPath: string): string {
  const { findings, unmatched, prefixRules } = document
  const byKind = Object.entries(kinds).map(([kind, { one, many }]) => {
    const some = findings.filter((each) => each.kind === kind)
    const title = count(some.length, `operation ${one}`, `operations ${many}`)
    return listed(title, some.map(findingRow))
  })
  const unmatchedList = (isOutside: boolean, one: string, many: string) => {
    const rows = unmatched
      .filter((granted) => granted.isOutside === isOutside)
      .toSorted((a, b) => Number(!a.nearest) - Number(!b.nearest))
      .map((granted) => [placesOf(granted), grantText(granted), nearestText(granted)])
    return listed(
      count(rows.length, `rule or exclusion ${one}`, `rules or exclusions ${many}`),
      rows,
    )
  }
  return [
    ...byKind,
    unmatchedList(false, 'matches no operation', 'match no operation'),
    unmatchedList(true, `is not about ${commonPath}`, `are not about ${commonPath}`),
    listed(
      count(prefixRules.length, 'rule ends in "*"', 'rules end in "*"'),
      prefixRules.map((rule) => [placesOf(rule), grantText(rule), matches(rule)]),
    ),
    ...summaryLines(document).map((line) => `${printable(line)}\n`),
  ].join('')
}

/** More than a person reads. */
const maxRows = 100

function listed(title: string, rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const more = rows.length - maxRows
  const rest = more > 0 ? `  … and ${count(more, 'more', 'more')}: --output json lists all\n` : ''
  return `${printable(title)}:\n${formatTable(rows.slice(0, maxRows), '  ')}${rest}`
}

function findingRow({ method, path, origin, detail }: Finding): readonly string[] {
  return [`${origin.file}:${origin.line}`, method, path, detail]
}

function nearestText({ nearest }: Unmatched): string {
  return nearest === null ? '' : `nearest: ${nearest.method} ${nearest.path}`
}

function matches({ operations }: Document['prefixRules'][number]): string {
  return `matches ${count(operations, 'operation')}`
}

function failingIn({ findings }: Document): number {
  return findings.filter(({ failsStrict }) => failsStrict).length
}

/** What was compared, and how many operations have which callers. */
function summaryLines(document: Document): readonly string[] {
  const widest = document.operations.map(({ access: [first] }) => first?.access)
  const numberOf = (...accesses: readonly unknown[]) =>
    widest.filter((access) => accesses.includes(access)).length.toLocaleString('en-US')
  const numbers = [
    `${numberOf('roles')} for roles`,
    `${numberOf('public', 'authenticated')} for everyone`,
    `${numberOf('admin')} for admin only`,
    `${numberOf('unserved', 'refused')} unreachable`,
  ]
  return [
    ...document.documents.map(
      ({ name, version, operations }) =>
        `${name}: OpenAPI ${version}, ${count(operations, 'operation')}`,
    ),
    `policy: ${document.policy}`,
    `${count(widest.length, 'operation')}: ${numbers.join(', ')}`,
    ...(document.ok ? [] : [`strict: ${count(failingIn(document), 'operation')} failed`]),
  ]
}

/** `policies/policy.csv:7`, and how many lines say the same. */
function placesOf({ origins }: Granted): string {
  const [first, ...others] = origins
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return `${first?.file}:${first?.line}${more}`
}

/** Whose rules these are, and what they say: `auditor, clerk GET /api/v1/orders/*`. */
function grantText({ by, roles, method, path }: Granted): string {
  if (by === 'exclusion') return `exclusion ${method} ${path}`
  const shown = roles.slice(0, maxRoles).join(', ')
  const more = roles.length > maxRoles ? ` and ${roles.length - maxRoles} more` : ''
  return `${shown}${more} ${method} ${path}`
}

const maxRoles = 3

/** What one operation and what several do, and what that is for another tool. The most severe first. */
const kinds = reportRules['policy coverage operations']

const rules = { ...rulesOf(kinds), ...reportRules['policy coverage rules'] }

function findingResult({ kind, method, path, origin, detail, failsStrict }: Finding): Result {
  const call = `${method} ${path}`
  return {
    rule: kinds[kind].id,
    level: failsStrict ? 'warning' : 'note',
    message: `${call} ${kinds[kind].one}${detail === '' ? '' : ` (${detail})`}`,
    ...origin,
    text: call,
  }
}
