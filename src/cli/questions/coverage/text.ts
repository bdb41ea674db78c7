import type { OperationFinding } from '../../../answers/coverage/findings.ts'
import { formatProblem } from '../../../kernel/errors.ts'
import type { Operation } from '../../../openapi/document.ts'
import { count, formatTable, printable } from '../../format.ts'
import { type Covered, grantText, placesOf } from './covered.ts'
import { detailOf, failsStrict, kindWords } from './finding-words.ts'

/** More than a person reads. */
const maxRows = 100
const maxIgnored = 20

/** Everything that was found, for a person. */
export function formatCovered(covered: Covered): string {
  const { findings, coverage } = covered
  const { unmatched, prefixRules } = coverage
  const byKind = Map.groupBy(findings, ({ kind }) => kind)
  const kinds = Object.entries(kindWords).flatMap(([kind, { one, many }]) => {
    const some = byKind.get(kind as keyof typeof kindWords) ?? []
    return some.length === 0
      ? []
      : [listed(count(some.length, `operation ${one}`, `operations ${many}`), some.map(findingRow))]
  })
  const [inside, outside] = [false, true].map((isOutside) =>
    unmatched
      .filter((granted) => granted.isOutside === isOutside)
      .toSorted((a, b) => Number(!a.nearest) - Number(!b.nearest))
      .map((granted) => [placesOf(granted), grantText(granted), nearestText(granted)]),
  )
  return [
    ...kinds,
    listed(
      count(
        inside?.length ?? 0,
        'rule or exclusion matches no operation',
        'rules or exclusions match no operation',
      ),
      inside,
    ),
    listed(
      count(
        outside?.length ?? 0,
        `rule or exclusion is not about ${coverage.commonPath}`,
        `rules or exclusions are not about ${coverage.commonPath}`,
      ),
      outside,
    ),
    listed(
      count(prefixRules.length, 'rule ends in "*"', 'rules end in "*"'),
      prefixRules.map((rule) => [
        placesOf(rule),
        grantText(rule),
        `matches ${count(rule.operations, 'operation')}`,
      ]),
    ),
    ...summaryLines(covered).map((line) => `${printable(line)}\n`),
  ].join('')
}

function listed(title: string, rows: readonly (readonly string[])[] = []): string {
  if (rows.length === 0) return ''
  const more = rows.length - maxRows
  const rest = more > 0 ? `  … and ${count(more, 'more', 'more')}: --output json lists all\n` : ''
  return `${printable(title)}:\n${formatTable(rows.slice(0, maxRows), '  ')}${rest}`
}

function findingRow(finding: OperationFinding<Operation>): readonly string[] {
  const { method, path, origin } = finding.operation
  return [`${origin.file}:${origin.line}`, method, path, detailOf(finding)]
}

function nearestText({ nearest }: Covered['coverage']['unmatched'][number]): string {
  return nearest === undefined ? '' : `nearest: ${nearest.method} ${nearest.path}`
}

/** What was compared, and how many operations have which callers. */
export function summaryLines({
  documents,
  coverage,
  policy,
  findings,
  ok,
}: Covered): readonly string[] {
  const widest = coverage.operations.map(({ kinds: [first] }) => first?.access)
  const numberOf = (...accesses: readonly unknown[]) =>
    widest.filter((access) => accesses.includes(access)).length.toLocaleString('en-US')
  const parts = [
    `${numberOf('roles')} for roles`,
    `${numberOf('public', 'authenticated')} for everyone`,
    `${numberOf('admin')} for admin only`,
    `${numberOf('unserved', 'refused')} unreachable`,
  ]
  return [
    ...documents.map(
      ({ name, version, operations }) =>
        `${name}: OpenAPI ${version}, ${count(operations.length, 'operation')}`,
    ),
    `policy: ${policy}`,
    `${count(widest.length, 'operation')}: ${parts.join(', ')}`,
    ...(ok
      ? []
      : [
          `strict: ${count(findings.filter(({ kind }) => failsStrict(kind)).length, 'operation')} failed`,
        ]),
  ]
}

/** What the answer does not consider. */
export function notesOf({ ignored, coverage, findings }: Covered): readonly string[] {
  return [
    ...ignored.slice(0, maxIgnored).map(formatProblem),
    ...(ignored.length > maxIgnored
      ? [`${ignored.length - maxIgnored} more fields are ignored`]
      : []),
    ...(isAllUnserved(coverage)
      ? ['no operation has a route: if the paths lack their base path, give it with --base']
      : []),
    ...(coverage.areRulesCompared
      ? []
      : ['rules are not compared with operations: only Casbin knows which paths they match']),
    ...(findings.every(({ isComplete, kind }) => isComplete || kind === 'undecided')
      ? []
      : ['"sampled" operations were checked with some values of their parameters, not with all']),
  ]
}

function isAllUnserved({ operations }: Covered['coverage']): boolean {
  return (
    operations.length > 0 && operations.every(({ kinds: [first] }) => first?.access === 'unserved')
  )
}
