import { formatModel } from '../set/format.ts'
import { exclusionKey, inheritanceKey, type PolicyContent, ruleKey } from '../set/revision.ts'

/**
 * Whether two policies say the same, found by comparing them and not their names: a revision is
 * short enough for somebody who wants to, to make two policies that share one.
 */
export function isSamePolicy(one: PolicyContent, other: PolicyContent): boolean {
  return wholeOf(one) === wholeOf(other)
}

function wholeOf({ model, rules, inheritances, exclusions }: PolicyContent): string {
  const ruleKeys = rules.map(ruleKey)
  return JSON.stringify([
    formatModel(model),
    model.casbin?.effect === 'priority' ? ruleKeys : ruleKeys.sort(),
    inheritances.map(inheritanceKey).sort(),
    exclusions.map(exclusionKey).sort(),
  ])
}
