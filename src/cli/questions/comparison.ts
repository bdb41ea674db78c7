import type { DocumentOf } from '../../operations/operation.ts'
import type { policyCan } from '../../operations/policy/descriptions.ts'
import { placeOf, untilNote } from '../../operations/policy/rule-line.ts'
import { count, formatTable, printable } from '../format.ts'
import { formatCsv, ruleColumns, ruleTitles, withoutRule } from './csv.ts'

export type Comparison = Extract<DocumentOf<typeof policyCan>, { readonly comparedWith: string }>

/** What each of two roles may do and the other may not. */
export function formatComparison(comparison: Comparison, policy: string): string {
  const { roleKey, comparedWith, more, less } = comparison
  const counts = `${count(more.differences.length, 'rule')} more, ${less.differences.length} less`
  return [
    `${printable(`${roleKey} compared with ${comparedWith}: ${counts}`)}\n`,
    formatTable([['policy', policy]], '  '),
    section(roleKey, comparedWith, more),
    section(comparedWith, roleKey, less),
  ].join('')
}

function section(one: string, other: string, found: Comparison['more']): string {
  const { differences, isEverything, isExact } = found
  if (isEverything) return `${printable(`${one} may make every call, and ${other} may not`)}\n`
  if (differences.length === 0) return ''
  const rows = differences.map(({ rule, via, until, isWhole, example, isUnserved }) => [
    rule.method,
    rule.path,
    placeOf(rule.origin),
    [
      ...(until === undefined ? [] : [untilNote(until)]),
      ...(via.length === 0 ? [] : [`inherited from ${via.join(' < ')}`]),
      ...(isWhole
        ? []
        : [`${isExact ? 'partly, ' : ''}for example ${example.method} ${example.path}`]),
      ...(isUnserved ? ['no route serves it'] : []),
    ].join('; '),
  ])
  return `${printable(`${one} may and ${other} may not`)}\n${formatTable(rows, '  ')}`
}

/** A line for each rule by which one of two roles may do what the other may not. */
export function compareCsv({ roleKey: first, comparedWith, more, less }: Comparison): string {
  const sides = [
    { roleKey: first, found: more },
    { roleKey: comparedWith, found: less },
  ]
  const rows = sides.flatMap(({ roleKey, found }) => [
    ...(found.isEverything ? [[roleKey, 'everything', ...withoutRule, '']] : []),
    ...found.differences.map((each) => [
      roleKey,
      each.isWhole ? 'all calls' : 'some calls',
      ...ruleColumns(each),
      each.isUnserved ? 'no' : 'yes',
    ]),
  ])
  return formatCsv([['only role', 'may', ...ruleTitles, 'served'], ...rows])
}
