import { can } from '../../answers/can.ts'
import { differencesOf } from '../../answers/compare.ts'
import { openEndpoints } from '../../answers/open.ts'
import { rolesIn } from '../../answers/query-scope.ts'
import type { EffectiveRule } from '../../answers/rule-effects.ts'
import { didYouMean } from '../../kernel/suggest.ts'
import { decline } from '../declined.ts'
import type { RunOf } from '../operation.ts'
import { dated } from './dated.ts'
import type { policyCan } from './descriptions.ts'
import { aboutPolicy, findPolicy, inexact, type PolicyQuery, policyName } from './policy-query.ts'

/** Lists everything that a role may do, or what it may do and another may not. */
export const run: RunOf<typeof policyCan, string> = async (input, context) => {
  const { role, compare } = input
  const query = await findPolicy({ ...input, config: context.configFile }, context)
  for (const each of [role, compare]) {
    if (each !== undefined) requireRole(each, query)
  }
  const shown = policyName(query)
  if (compare !== undefined) return { ...compared(query, role, compare), shown }
  const answer = can(query, role)
  const notes = answer.isExact ? [] : inexact(query, answer.unasked)
  const isAnything =
    answer.unrestricted !== undefined || answer.routes.some(({ rules }) => rules.some(isAllowing))
  return {
    document: dated({ ...answer, open: openEndpoints(query), ...aboutPolicy(query, notes) }),
    outcome: isAnything ? 'done' : 'no',
    shown,
  }
}

/** Whether a rule lets its role make calls. */
export function isAllowing({ effect }: Pick<EffectiveRule, 'effect'>): boolean {
  return effect === 'allows' || effect === 'partly'
}

function compared(query: PolicyQuery, roleKey: string, comparedWith: string) {
  const more = differencesOf(query, roleKey, comparedWith)
  const less = differencesOf(query, comparedWith, roleKey)
  const isExact = more.isExact && less.isExact
  const notes = isExact ? [] : inexact(query, Math.max(more.unasked, less.unasked))
  const isMore = more.isEverything || more.differences.length > 0
  return {
    document: dated({ roleKey, comparedWith, more, less, ...aboutPolicy(query, notes) }),
    outcome: isMore ? 'done' : 'no',
  } as const
}

function requireRole(roleKey: string, { whole, name }: PolicyQuery): void {
  const roles = rolesIn(whole)
  // Only its matcher knows which roles a model that Casbin evaluates allows.
  if (roleKey === 'admin' || roles.includes(roleKey) || whole.model.casbin !== undefined) return
  decline(
    `${name} does not name the role ${JSON.stringify(roleKey)}, so it may only do what every authenticated caller may ("postern policy open")${didYouMean(roleKey, roles)}`,
  )
}
