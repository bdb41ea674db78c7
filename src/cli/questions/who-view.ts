import type { DocumentOf } from '../../operations/operation.ts'
import { countWords } from '../../operations/policy/account-counts.ts'
import type { policyWho } from '../../operations/policy/descriptions.ts'
import { lineOf } from '../../operations/policy/rule-line.ts'
import type { WhoExtras } from '../../operations/policy/who.ts'
import { count, formatTable, printable } from '../format.ts'
import { noteLines, type ViewOf } from '../view.ts'
import { formatCsv, ruleColumns, ruleTitles, withoutRule } from './csv.ts'

type WhoAnswer = DocumentOf<typeof policyWho>
type RoleByRule = WhoAnswer['roles'][number]

export const policyWhoView: ViewOf<typeof policyWho, WhoExtras> = {
  text: ({ document, shown = { rows: [] } }) => {
    return { out: formatWho(document, shown), err: noteLines(document.notes) }
  },
  csv: ({ document, shown }) => {
    return { out: whoCsv(document, shown?.counts), err: noteLines(document.notes) }
  },
}

/** Who may make a call, with a line for each role. */
function formatWho(answer: WhoAnswer, { rows, counts }: WhoExtras): string {
  const { deniedRoles, otherMethods, roles } = answer
  const others = roles.length > 0 ? [] : otherMethods
  const shown = others.slice(0, mostLines).map((rule) => [lineOf(rule)])
  return [
    `${printable(`${answer.method} ${answer.path}: ${titleOf(answer)}`)}\n`,
    formatTable(rows, '  '),
    formatTable(roleRows(answer, counts), '  '),
    deniedRoles.length === 0 ? '' : 'A deny rule takes it from:\n',
    formatTable(
      deniedRoles.map((role) => [role.roleKey, ...throughOf(role)]),
      '  ',
    ),
    others.length === 0
      ? ''
      : `${count(others.length, 'rule allows', 'rules allow')} other methods on this path:\n`,
    formatTable(shown, '  '),
    others.length > mostLines
      ? `  … and ${others.length - mostLines} more: --output json lists all\n`
      : '',
  ].join('')
}

const mostLines = 20

function titleOf({ allows, isUnserved, roles, superusers }: WhoAnswer): string {
  if (allows === 'none') return 'the gateway refuses it to every caller'
  if (allows === 'everyone') return 'every caller may, without a token'
  if (allows === 'authenticated') return 'every authenticated caller may'
  const others = roles.length + superusers.length
  const may = others === 0 ? 'only admin may' : `admin and ${count(others, 'role')} may`
  return isUnserved ? `${may}, but no route serves it` : may
}

function roleRows(answer: WhoAnswer, counts: WhoExtras['counts']): string[][] {
  if (answer.allows !== 'roles') return []
  const rows = [
    ...answer.superusers.map(({ roleKey, clause }) => [roleKey, `${clause} in model.conf`, '']),
    ...answer.roles.map((role) => [role.roleKey, ...throughOf(role)]),
  ]
  const titles = ['ROLE', 'RULE', 'INHERITED FROM']
  const table = [titles, ['admin', 'needs no rule', ''], ...rows]
  const isInherited = rows.some(([, , way]) => way !== '')
  return table.map(([roleKey = '', rule = '', way = ''], at) => [
    roleKey,
    ...(counts ? [at === 0 ? 'ACCOUNTS' : countWords(counts[roleKey])] : []),
    rule,
    ...(isInherited ? [way] : []),
  ])
}

/** The line, and the way to the role that it names, such as `lead < clerk`. */
function throughOf({ rule, via, until, alsoAllowedBy }: RoleByRule): [string, string] {
  const more = rule.effect === 'allow' ? alsoAllowedBy.length : 0
  const note = more === 0 ? '' : ` (and ${count(more, 'more rule')})`
  return [`${lineOf(rule, until)}${note}`, via.join(' < ')]
}

/** A line for each role that may make a call, and for each that a deny rule takes it from. */
export function whoCsv(answer: WhoAnswer, counts: WhoExtras['counts']): string {
  const titles = ['role', 'may', 'by', ...ruleTitles]
  const isNamed = Object.values(counts ?? {}).some((each) => each?.names !== undefined)
  const counted = counts === undefined ? [] : ['accounts', 'disabled accounts']
  if (isNamed) counted.push('names')
  const rows = csvRows(answer).map((row) => [...row, ...countColumns(row[0] ?? '', counts)])
  return formatCsv([[...titles, ...counted], ...rows])
}

function countColumns(roleKey: string, counts: WhoExtras['counts']): readonly string[] {
  if (counts === undefined) return []
  const { enabled, disabled, names } = counts[roleKey] ?? {}
  const numbers = [enabled, disabled].map((number) => (number === undefined ? '' : String(number)))
  return names === undefined ? numbers : [...numbers, names.join(', ')]
}

function csvRows(answer: WhoAnswer): string[][] {
  const { allows, superusers, roles, deniedRoles, exclusion, endpoint } = answer
  if (allows === 'none') return []
  if (allows !== 'roles') {
    const who = allows === 'everyone' ? 'every caller' : 'every authenticated caller'
    const step = exclusion !== null ? 'exclusion' : endpoint !== null ? 'endpoint' : 'route'
    return [[who, 'yes', step, ...withoutRule]]
  }
  const ofRole = (may: string) => (role: RoleByRule) => {
    const by = role.via.length === 0 ? 'rule' : 'inherited rule'
    return [role.roleKey, may, by, ...ruleColumns(role)]
  }
  return [
    ['admin', 'yes', 'admin', ...withoutRule],
    ...superusers.map(({ roleKey }) => [roleKey, 'yes', 'superuser', ...withoutRule]),
    ...roles.map(ofRole('yes')),
    ...deniedRoles.map(ofRole('no')),
  ]
}
