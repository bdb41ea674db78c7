import { createGrants, methodBits } from '../review/grants.ts'
import { type PatternNode, shapeOf, treeOf, visitCovering } from '../review/pattern-tree.ts'
import type { Exclusion, Rule } from '../rule/rule.ts'
import { endOf } from '../rule/until.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { withLastingInheritances } from './expiry.ts'

/** What alone makes a rule redundant, or overrides it. */
interface Redundancy {
  readonly exclusion?: Exclusion
  readonly other?: Rule | undefined
}

/**
 * Finds what makes a rule redundant: an exclusion, or a rule of the role or of an inherited role. A
 * line that expires makes none redundant that lasts longer.
 */
export function createRedundancy(set: PolicySet) {
  const { rules, exclusions } = set
  const { lineage, rulesOf } = createGrants(withLastingInheritances(set))
  const order = new Map(rules.map((rule, index) => [rule, index]))
  const trees = new Map<string, PatternNode<readonly Rule[]>>()
  const rulesTree = (roleKey: string) => {
    const known = trees.get(roleKey) ?? treeOf(rulesOf(roleKey), ({ path }) => path)
    trees.set(roleKey, known)
    return known
  }
  const excluded = treeOf(exclusions, ({ path }) => path)

  /** Whether `other` alone has the effect of `rule`, or overrides it. */
  function outweighs(other: Rule, rule: Rule, isSamePattern: boolean): boolean {
    if (other === rule || (methodBits(rule.method) & ~methodBits(other.method)) !== 0) return false
    if (other.effect !== rule.effect) return other.effect === 'deny'
    if (endOf(other) !== endOf(rule)) return endOf(rule) < endOf(other)
    const isSame =
      isSamePattern &&
      methodBits(other.method) === methodBits(rule.method) &&
      other.roleKey === rule.roleKey
    // Of two equal rules, the first one is not redundant.
    return !isSame || (order.get(other) ?? 0) < (order.get(rule) ?? 0)
  }

  return (rule: Rule): Redundancy => {
    const shape = shapeOf(rule.path)
    let exclusion: Exclusion | undefined
    visitCovering(excluded, shape, (found) => {
      exclusion ??= found.find(
        (each) => methodBits(each.method) === methodBits(rule.method) && endOf(rule) <= endOf(each),
      )
    })
    if (exclusion !== undefined) return { exclusion }

    let strongest: Rule | undefined
    for (const roleKey of lineage(rule.roleKey)) {
      visitCovering(rulesTree(roleKey), shape, (found) => {
        const isSamePattern = found.includes(rule)
        for (const other of found) {
          if (strongest?.effect === 'deny' || !outweighs(other, rule, isSamePattern)) continue
          if (strongest === undefined || other.effect === 'deny') strongest = other
        }
      })
    }
    return { other: strongest }
  }
}
