import { formatModel } from '../set/format.ts'
import { guardrailKey } from '../set/guardrails.ts'
import {
  datedKey,
  exclusionKey,
  inheritanceKey,
  type PolicyContent,
  ruleKey,
} from '../set/revision.ts'

/**
 * Whether two policies are the same, by content and not by revision: a revision is a short hash, and
 * an attacker can create two policies that share one.
 */
export function isSamePolicy(one: PolicyContent, other: PolicyContent): boolean {
  return wholeOf(one) === wholeOf(other)
}

function wholeOf({
  model,
  rules,
  inheritances,
  exclusions,
  guardrails = [],
}: PolicyContent): string {
  const ruleKeys = rules.map((each) => datedKey(ruleKey(each), each))
  return JSON.stringify([
    formatModel(model),
    model.casbin?.effect === 'priority' ? ruleKeys : ruleKeys.sort(),
    inheritances.map((each) => datedKey(inheritanceKey(each), each)).sort(),
    exclusions.map((each) => datedKey(exclusionKey(each), each)).sort(),
    guardrails.map(guardrailKey).sort(),
  ])
}
