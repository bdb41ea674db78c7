import type { HeldRule } from '../../../answers/lineage.ts'
import type { Dated } from '../../../operations/policy/dated.ts'
import { placeOf } from '../../../policy/review/finding.ts'

export const ruleTitles = ['effect', 'method', 'path', 'line', 'inherited from', 'until']

/** The same columns where no rule decides: every row has as many as the titles (RFC 4180). */
export const withoutRule = ruleTitles.map(() => '')

/** The columns of a rule that applies to a role. */
export function ruleColumns({ rule, via, until = '' }: Dated<HeldRule>): readonly string[] {
  return [rule.effect, rule.method, rule.path, placeOf(rule.origin), via.join(' < '), until]
}
