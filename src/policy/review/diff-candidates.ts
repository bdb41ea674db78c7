import type { Rule } from '../rule/rule.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { ruleKey } from '../set/revision.ts'
import type { Grants } from './grants.ts'

/** One of the two policies that are compared. */
export interface Version {
  readonly set: PolicySet
  readonly grants: Grants
}

/**
 * For a role, the allow rules of its new lineage by which it may have gained something: the new
 * ones, and all of them when a deny that it was under is gone. No other rule can be the reason.
 */
export function createChangesOfRole(
  from: Version,
  to: Version,
): (roleKey: string) => readonly Rule[] {
  const keysBefore = new Set(from.set.rules.map(ruleKey))
  const keysAfter = new Set(to.set.rules.map(ruleKey))
  const allows = ({ effect }: Rule) => effect === 'allow'
  const added = Map.groupBy(
    to.set.rules.filter((rule) => allows(rule) && !keysBefore.has(ruleKey(rule))),
    ({ roleKey }) => roleKey,
  )
  const denyTakenOut = new Set(
    from.set.rules
      .filter((rule) => !allows(rule) && !keysAfter.has(ruleKey(rule)))
      .map(({ roleKey }) => roleKey),
  )
  const denies = (roleKey: string) => !from.grants.rulesOf(roleKey).every(allows)

  return (roleKey) => {
    const before = new Set(from.grants.lineage(roleKey))
    const after = new Set(to.grants.lineage(roleKey))
    const allAgain = [...before].some(
      (each) => denyTakenOut.has(each) || (!after.has(each) && denies(each)),
    )
    return [...after].flatMap((each) => {
      if (allAgain || !before.has(each)) return to.grants.rulesOf(each).filter(allows)
      return added.get(each) ?? []
    })
  }
}
