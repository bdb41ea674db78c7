import type { DocumentOf } from '../../../operations/operation.ts'
import type { AccountCount } from '../../../operations/policy/account-counts.ts'
import type { policyWho } from '../../../operations/policy/descriptions.ts'
import { formatCsv, ruleColumns, ruleTitles, withoutRule } from './rows.ts'

export type WhoAnswer = DocumentOf<typeof policyWho>
export type RoleByRule = WhoAnswer['roles'][number]
type CountOf = (roleKey: string) => AccountCount | undefined

/** A line for each role that may make a call, and for each that a deny rule takes it from. */
export function whoCsv(answer: WhoAnswer, countOf: CountOf | undefined): string {
  const titles = ['role', 'may', 'by', ...ruleTitles]
  const counted = countOf === undefined ? [] : ['accounts', 'disabled accounts']
  const rows = rowsOf(answer).map((row) => [...row, ...countColumns(row[0] ?? '', countOf)])
  return formatCsv([[...titles, ...counted], ...rows])
}

function countColumns(roleKey: string, countOf: CountOf | undefined): readonly string[] {
  if (countOf === undefined) return []
  const { enabled, disabled } = countOf(roleKey) ?? {}
  return [enabled, disabled].map((number) => (number === undefined ? '' : String(number)))
}

function rowsOf(answer: WhoAnswer): string[][] {
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
