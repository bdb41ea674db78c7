import type { DocumentOf } from '../../operations/operation.ts'
import type { policyCoverage } from '../../operations/policy/check-descriptions.ts'
import type { CoverageExtras } from '../../operations/policy/coverage.ts'
import { count, formatTable, printable } from '../format.ts'
import { type ReportRule, type Result, rulesOf } from '../report/report.ts'
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

/** A kind of finding: what one operation and what several do, and what it is for another tool. */
interface Kind extends ReportRule {
  readonly id: string
  readonly one: string
  readonly many: string
}

/** The most severe first. */
const kinds: Readonly<Record<Finding['kind'], Kind>> = {
  public: {
    id: 'operation-public',
    one: 'declares security, but needs no token',
    many: 'declare security, but need no token',
    summary: 'An operation declares security, but needs no token.',
    help: 'Every client can call it. Change the access of its route, or declare "security: []" in the document.',
  },
  authenticated: {
    id: 'operation-unchecked',
    one: 'declares security, but needs no permission: every valid token is enough',
    many: 'declare security, but need no permission: every valid token is enough',
    summary: 'An operation declares security, but needs no permission.',
    help: 'Every caller with a valid token can call it, whatever the role. Remove the exclusion, or give the route the access "permitted".',
  },
  refused: {
    id: 'operation-refused',
    one: 'is refused to every caller',
    many: 'are refused to every caller',
    summary: 'The gateway refuses an operation to every caller.',
    help: 'The path or the method is reserved or ambiguous. Rename the operation, or remove it from the document.',
  },
  unserved: {
    id: 'operation-without-route',
    one: 'has no route: callers get 404',
    many: 'have no route: callers get 404',
    summary: 'No route serves an operation.',
    help: 'Callers get 404. Add a route to the configuration, or give the base path with --base.',
  },
  admin: {
    id: 'operation-admin-only',
    one: 'is for admin only',
    many: 'are for admin only',
    summary: 'Only the role admin may call an operation.',
    help: 'Add a rule for the roles that need it, or accept that only admin may call it.',
  },
  some: {
    id: 'operation-some-values',
    one: 'can be called with some values only',
    many: 'can be called with some values only',
    summary: 'Roles may call an operation with some values of its parameters only.',
    help: 'Check that the rules name the values that they should.',
  },
  undecided: {
    id: 'operation-not-checked',
    one: 'was not checked: this model is too slow',
    many: 'were not checked: this model is too slow',
    summary: 'An operation was not checked.',
    help: 'Casbin evaluates this model, and every decision takes time for every rule.',
  },
}

const rules: Readonly<Record<string, ReportRule>> = {
  ...rulesOf(kinds),
  'rule-without-operation': {
    summary: 'A rule or exclusion matches no operation.',
    help: 'It may be mistyped or outdated.',
  },
  'rule-of-other-paths': {
    summary: 'A rule or exclusion is for paths that no document has.',
    help: 'It probably belongs to a service whose document you did not give.',
  },
  'rule-with-prefix': {
    summary: 'A rule ends in "*".',
    help: 'It also matches operations that do not exist yet.',
  },
}

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
