import type { DocumentOf } from '../../operations/operation.ts'
import type { Rows } from '../../operations/policy/can.ts'
import type { policyCan, policySimulate } from '../../operations/policy/descriptions.ts'
import { placeOf, untilNote } from '../../operations/policy/rule-line.ts'
import { count, formatTable, printable } from '../format.ts'
import { noteLines, type ViewOf } from '../view.ts'
import { formatCsv, ruleColumns, ruleTitles, withoutRule } from './csv.ts'

export type Comparison = Extract<DocumentOf<typeof policyCan>, { readonly comparedWith: string }>

/** What each of two roles may do and the other may not. */
export function formatComparison(comparison: Comparison, about: Rows): string {
  const { roleKey, comparedWith, more, less } = comparison
  const counts = `${count(more.differences.length, 'rule')} more, ${less.differences.length} less`
  return [
    `${printable(`${roleKey} compared with ${comparedWith}: ${counts}`)}\n`,
    formatTable(about, '  '),
    section(roleKey, comparedWith, more),
    section(comparedWith, roleKey, less),
  ].join('')
}

/** What an account would gain and lose. */
export const policySimulateView: ViewOf<typeof policySimulate, Rows> = {
  text({ document, shown = [] }) {
    const { gains, losses, account, withRoles, roleKey, notes } = document
    const counts = `gains ${count(gains.differences.length, 'rule')}, loses ${losses.differences.length}`
    const [now, then] = [`as ${roleKey}`, `as ${withRoles.join(' and ')}`]
    const out = [
      `${printable(`${account?.username} ${then}: ${counts}`)}\n`,
      formatTable(shown, '  '),
      section(then, now, gains),
      section(now, then, losses),
    ]
    return { out: out.join(''), err: noteLines(notes) }
  },
  csv({ document: { gains, losses, notes } }) {
    const sides = [
      { side: 'gains', found: gains },
      { side: 'loses', found: losses },
    ]
    return { out: differencesCsv('change', sides), err: noteLines(notes) }
  },
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
    { side: first, found: more },
    { side: comparedWith, found: less },
  ]
  return differencesCsv('only role', sides)
}

interface Side {
  readonly side: string
  readonly found: Comparison['more']
}

function differencesCsv(title: string, sides: readonly Side[]): string {
  const rows = sides.flatMap(({ side, found }) => [
    ...(found.isEverything ? [[side, 'everything', ...withoutRule, '']] : []),
    ...found.differences.map((each) => [
      side,
      each.isWhole ? 'all calls' : 'some calls',
      ...ruleColumns(each),
      each.isUnserved ? 'no' : 'yes',
    ]),
  ])
  return formatCsv([[title, 'may', ...ruleTitles, 'served'], ...rows])
}
