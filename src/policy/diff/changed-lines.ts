import type { Grants } from '../review/grants.ts'
import type { Inheritance, Rule } from '../rule/rule.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { inheritanceKey, ruleKey } from '../set/revision.ts'
import type { Budget } from './gain.ts'

/** One of the two policies that are compared. */
export interface Version {
  readonly set: PolicySet
  readonly grants: Grants
  /** The rules that the other policy lacks, by role. */
  readonly ownRules: ReadonlyMap<string, readonly Rule[]>
  /** The inheritances that the other policy lacks. */
  readonly ownInheritances: readonly Inheritance[]
}

/** What searches for gains compare, and how long they may take together. */
export interface Comparison {
  readonly from: Version
  readonly to: Version
  readonly budget: Budget
}

/** Prepares two policies for the comparison in both directions. */
export function createVersions(
  from: { readonly set: PolicySet; readonly grants: Grants },
  to: { readonly set: PolicySet; readonly grants: Grants },
): { readonly from: Version; readonly to: Version } {
  const ownFrom = new Map<string, readonly Rule[]>()
  const ownTo = new Map<string, readonly Rule[]>()
  for (const roleKey of new Set([...from.grants.roles, ...to.grants.roles])) {
    const before = from.grants.rulesOf(roleKey)
    const after = to.grants.rulesOf(roleKey)
    // Most roles of a large policy did not change: their rules need no keys.
    if (isSameList(before, after)) continue
    takeOwn(ownFrom, roleKey, before, after)
    takeOwn(ownTo, roleKey, after, before)
  }
  return {
    from: { ...from, ownRules: ownFrom, ownInheritances: onlyIn(from.set, to.set) },
    to: { ...to, ownRules: ownTo, ownInheritances: onlyIn(to.set, from.set) },
  }
}

function isSameList(one: readonly Rule[], other: readonly Rule[]): boolean {
  return one.length === other.length && one.every((rule, at) => isSame(rule, other[at]))
}

function isSame(one: Rule, other: Rule | undefined): boolean {
  return (
    other !== undefined &&
    one.path === other.path &&
    one.method === other.method &&
    one.effect === other.effect &&
    one.fields === undefined &&
    other.fields === undefined
  )
}

function takeOwn(
  own: Map<string, readonly Rule[]>,
  roleKey: string,
  rules: readonly Rule[],
  others: readonly Rule[],
): void {
  const known = new Set(others.map(ruleKey))
  const found = rules.filter((rule) => !known.has(ruleKey(rule)))
  if (found.length > 0) own.set(roleKey, found)
}

function onlyIn(one: PolicySet, other: PolicySet): readonly Inheritance[] {
  const known = new Set(other.inheritances.map(inheritanceKey))
  return one.inheritances.filter((each) => !known.has(inheritanceKey(each)))
}
