import type { RoleByRule, WhoAnswer } from '../../answers/who.ts'
import { count, formatTable, printable } from '../format.ts'
import { type AccountCounts, countWords } from '../../operations/policy/account-counts.ts'
import { type AskedPolicy, policyName } from '../../operations/policy/asked-policy.ts'
import { lineOf } from '../../operations/policy/rule-line.ts'
import { refusalOf, routeOf } from '../../operations/policy/verdict-words.ts'

/** Who may make a call, with a line for each role. */
export function formatWho(
  answer: WhoAnswer,
  asked: AskedPolicy,
  accounts: AccountCounts | undefined,
): string {
  const { deniedRoles, otherMethods, roles } = answer
  const others = roles.length > 0 ? [] : otherMethods
  const shown = others.slice(0, mostLines).map((rule) => [lineOf(rule)])
  return [
    `${printable(`${answer.method} ${answer.path}: ${titleOf(answer)}`)}\n`,
    formatTable([...aboutCall(answer, asked), ['policy', policyName(asked)]], '  '),
    formatTable(roleRows(answer, accounts), '  '),
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

function titleOf({ kind, verdict, roles, superusers }: WhoAnswer): string {
  if (kind === 'refused') return 'the gateway refuses it to every caller'
  if (kind === 'open') {
    return verdict.need === 'nothing'
      ? 'every caller may, without a token'
      : 'every authenticated caller may'
  }
  const others = roles.length + superusers.length
  const may = others === 0 ? 'only admin may' : `admin and ${count(others, 'role')} may`
  return verdict.isUnserved ? `${may}, but no route serves it` : may
}

/** Route, exclusion or refusal. */
function aboutCall({ kind, verdict }: WhoAnswer, { admission }: AskedPolicy): string[][] {
  const { route, endpoint, refusal, isUnserved, decision } = verdict
  if (kind === 'refused') return [['refused', refusalOf(refusal ?? 'method-not-allowed', endpoint)]]
  const rows: string[][] = []
  if (endpoint !== undefined) {
    const by = endpoint.upstream === undefined ? 'the gateway' : `upstream ${endpoint.upstream}`
    rows.push(['endpoint', `${endpoint.name}, answered by ${by}`])
  } else if (admission.areRoutesKnown) {
    rows.push(['route', isUnserved ? 'none: the answer is 404' : routeOf(verdict)])
  }
  if (route?.reason !== undefined && kind === 'open') rows.push(['reason', route.reason])
  if (decision?.exclusion === undefined) return rows
  const { exclusion } = decision
  return [...rows, ['exclusion', lineOf(exclusion)], ['reason', exclusion.reason]]
}

function roleRows(answer: WhoAnswer, accounts: AccountCounts | undefined): string[][] {
  if (answer.kind !== 'policy') return []
  const rows = [
    ...answer.superusers.map(({ roleKey, clause }) => [roleKey, `${clause} in model.conf`, '']),
    ...answer.roles.map((role) => [role.roleKey, ...throughOf(role)]),
  ]
  const titles = ['ROLE', 'RULE', 'INHERITED FROM']
  const table = [titles, ['admin', 'needs no rule', ''], ...rows]
  const isInherited = rows.some(([, , way]) => way !== '')
  return table.map(([roleKey = '', rule = '', way = ''], at) => [
    roleKey,
    ...(isCounted(accounts) ? [at === 0 ? 'ACCOUNTS' : countWords(accounts.of(roleKey))] : []),
    rule,
    ...(isInherited ? [way] : []),
  ])
}

function isCounted(accounts: AccountCounts | undefined): accounts is AccountCounts {
  return accounts !== undefined && accounts.problem === undefined
}

/** The line, and the way to the role that it names, such as `lead < clerk`. */
function throughOf({ rule, via, until, alsoAllowedBy }: RoleByRule): [string, string] {
  const more = rule.effect === 'allow' ? alsoAllowedBy.length : 0
  const note = more === 0 ? '' : ` (and ${count(more, 'more rule')})`
  return [`${lineOf(rule, until)}${note}`, via.join(' < ')]
}
