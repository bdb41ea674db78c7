import { differencesOf, type RoleDifferences } from '../../answers/compare.ts'
import { placeOf } from '../../policy/review/finding.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, formatTable, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { datedJson } from '../policy/dated-json.ts'
import { type AskedPolicy, policyName } from '../../operations/policy/asked-policy.ts'
import { compareCsv } from './csv/can.ts'
import { inexact, printNotes } from './notes.ts'
import { untilNote } from '../../operations/policy/rule-line.ts'

/** Shows what each of two roles may do and the other may not. */
export function compareRoles(
  asked: AskedPolicy,
  [first, second]: readonly [string, string],
  output: 'text' | 'json' | 'csv',
  io: Io,
): number {
  const more = differencesOf(asked, first, second)
  const less = differencesOf(asked, second, first)
  const isExact = more.isExact && less.isExact
  const notes = [
    ...asked.notes,
    ...(isExact ? [] : inexact(asked, Math.max(more.unasked, less.unasked))),
  ]
  if (output === 'json') {
    const { name: policy, policies } = asked
    const about = { policy, revision: policies.revision, notes }
    io.out(datedJson({ roleKey: first, comparedWith: second, more, less, ...about }))
  } else if (output === 'csv') {
    const sides = [
      { roleKey: first, found: more },
      { roleKey: second, found: less },
    ]
    io.out(compareCsv(sides))
    printNotes(notes, io)
  } else {
    const counts = `${count(more.differences.length, 'rule')} more, ${less.differences.length} less`
    io.out(`${printable(`${first} compared with ${second}: ${counts}`)}\n`)
    io.out(formatTable([['policy', policyName(asked)]], '  '))
    io.out(section(first, second, more))
    io.out(section(second, first, less))
    printNotes(notes, io)
  }
  return more.isEverything || more.differences.length > 0 ? exitCodes.done : exitCodes.no
}

function section(one: string, other: string, found: RoleDifferences): string {
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
