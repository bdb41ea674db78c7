import { can } from '../../answers/can.ts'
import { differencesOf, type RoleDifferences } from '../../answers/compare.ts'
import { openEndpoints } from '../../answers/open.ts'
import { rolesIn } from '../../answers/query-scope.ts'
import type { EffectiveRule } from '../../answers/rule-effects.ts'
import { didYouMean } from '../../kernel/suggest.ts'
import { decline } from '../declined.ts'
import type { RunOf } from '../operation.ts'
import { dated } from './dated.ts'
import type { policyCan } from './descriptions.ts'
import { findRole } from './find-caller.ts'
import {
  aboutPolicy,
  checkQuery,
  findPolicy,
  inexact,
  type PolicyQuery,
  policyName,
} from './policy-query.ts'

/** About whom and which policy, as a table. */
export type Rows = readonly (readonly string[])[]

/** What a role or an account may do, with rows about them, or what another role may not. */
export const run: RunOf<typeof policyCan, Rows> = async (input, context) => {
  const { compare } = input
  checkQuery(input)
  const { roleKey: role, rows, facts, notes: about } = await findRole(input, context)
  const query = await findPolicy({ ...input, config: context.configFile }, context)
  for (const each of [role, compare]) {
    if (each !== undefined) requireRole(each, query)
  }
  const shown = [...rows, ['policy', policyName(query)]]
  if (compare !== undefined) {
    const more = differencesOf(query, role, compare)
    const less = differencesOf(query, compare, role)
    const { notes, outcome } = compared(query, more, less)
    const answer = { roleKey: role, comparedWith: compare, more, less }
    const document = dated({ ...answer, ...aboutPolicy(query, [...notes, ...about]) })
    return { document: { ...document, ...facts }, outcome, shown }
  }
  const answer = can(query, role)
  const notes = [...(answer.isExact ? [] : inexact(query, answer.unasked)), ...about]
  const isAnything =
    answer.unrestricted !== undefined || answer.routes.some(({ rules }) => rules.some(isAllowing))
  return {
    document: {
      ...dated({ ...answer, open: openEndpoints(query), ...aboutPolicy(query, notes) }),
      ...facts,
    },
    outcome: isAnything ? 'done' : 'no',
    shown,
  }
}

/** Whether a rule lets its role make calls. */
export function isAllowing({ effect }: Pick<EffectiveRule, 'effect'>): boolean {
  return effect === 'allows' || effect === 'partly'
}

/** How a comparison ends, and what it may miss. */
export function compared(query: PolicyQuery, more: RoleDifferences, less: RoleDifferences) {
  const isExact = more.isExact && less.isExact
  const isMore = more.isEverything || more.differences.length > 0
  return {
    notes: isExact ? [] : inexact(query, Math.max(more.unasked, less.unasked)),
    outcome: isMore ? 'done' : 'no',
  } as const
}

export function requireRole(roleKey: string, { whole, name }: PolicyQuery): void {
  const roles = rolesIn(whole)
  // Only its matcher knows which roles a model that Casbin evaluates allows.
  if (roleKey === 'admin' || roles.includes(roleKey) || whole.model.casbin !== undefined) return
  decline(
    `${name} does not name the role ${JSON.stringify(roleKey)}, so it may only do what every authenticated caller may ("postern policy open")${didYouMean(roleKey, roles)}`,
  )
}
