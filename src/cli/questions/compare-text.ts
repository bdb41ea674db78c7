import { untilNote } from '../../operations/policy/rule-line.ts'
import { placeOf } from '../../policy/review/finding.ts'
import { count, formatTable, printable } from '../format.ts'
import type { Comparison } from './csv/can.ts'

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
