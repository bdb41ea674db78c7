import { methodBits } from '../../policy/review/grants.ts'
import { shapeOf, treeOf, visitOverlapping } from '../../policy/review/pattern-tree.ts'
import type { Exclusion, Rule } from '../../policy/rule/rule.ts'
import { endOf } from '../../policy/rule/until.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import { exclusionUsageKey, ruleUsageKey } from '../../policy/usage/usage-key.ts'
import { createLineages } from '../lineage.ts'

/** A line that decided calls, and when a role loses it; 0 for a line that has gone. */
interface Decided {
  readonly line: Rule | Exclusion
  readonly endFor: (roleKey: string) => number
}

/**
 * Finds lines that take over from one that decided: it expires before them, or has gone since the
 * observation began. That they have not decided yet does not make them superfluous.
 */
export function createStandIns(
  set: PolicySet,
  isUsed: (key: string) => boolean,
  before: readonly PolicySet[],
) {
  const lineages = createLineages(set)
  const kept = new Set([...set.rules.map(ruleUsageKey), ...set.exclusions.map(exclusionUsageKey)])
  const decided = [
    ...limited(set, lineages, isUsed),
    ...before.flatMap((old) => gone(old, (key) => isUsed(key) && !kept.has(key))),
  ]
  if (decided.length === 0) return { isStandIn: () => false }
  const tree = treeOf(decided, ({ line }) => line.path)

  return {
    isStandIn(line: Rule | Exclusion): boolean {
      const isRule = 'roleKey' in line
      const heirs = isRule ? lineages.heirs(line.roleKey) : ['']
      const endFor = (heir: string) => (isRule ? endOf(lineages.held(heir, line)) : endOf(line))
      let isFound = false
      visitOverlapping(tree, shapeOf(line.path), (found) => {
        isFound ||= found.some(
          (other) =>
            (isRule || !('roleKey' in other.line)) &&
            mayShareDomain(line, other.line) &&
            (methodBits(other.line.method) & methodBits(line.method)) !== 0 &&
            heirs.some((heir) => other.endFor(heir) < endFor(heir)),
        )
      })
      return isFound
    },
  }
}

/** Whether two lines may count in the same domain: `*` may stand for several. */
function mayShareDomain(one: Rule | Exclusion, other: Rule | Exclusion): boolean {
  const [a, b] = [one, other].map((line) => ('domain' in line ? line.domain : undefined))
  return a === undefined || b === undefined || a === b || a.endsWith('*') || b.endsWith('*')
}

/** Lines of a policy that decided and expire, or that a role inherits for a while. */
function limited(
  { rules, exclusions, inheritances }: PolicySet,
  { heirs, held }: ReturnType<typeof createLineages>,
  isUsed: (key: string) => boolean,
): readonly Decided[] {
  const areLinksLimited = inheritances.some(({ until }) => until !== undefined)
  return [
    ...rules
      .filter(({ effect, until }) => effect === 'allow' && (areLinksLimited || until !== undefined))
      .filter((rule) => isUsed(ruleUsageKey(rule)))
      .map((line) => {
        const holders = new Set(heirs(line.roleKey))
        const endFor = (roleKey: string) =>
          holders.has(roleKey) ? endOf(held(roleKey, line)) : Number.POSITIVE_INFINITY
        return { line, endFor }
      }),
    ...exclusions
      .filter(({ until }) => until !== undefined)
      .filter((exclusion) => isUsed(exclusionUsageKey(exclusion)))
      .map((line) => ({ line, endFor: () => endOf(line) })),
  ]
}

/** Lines of an earlier policy that have gone. */
function gone(old: PolicySet, isGone: (key: string) => boolean): readonly Decided[] {
  const { heirs } = createLineages(old)
  return [
    ...old.rules
      .filter((rule) => rule.effect === 'allow' && isGone(ruleUsageKey(rule)))
      .map((line) => {
        const holders = new Set(heirs(line.roleKey))
        const endFor = (roleKey: string) => (holders.has(roleKey) ? 0 : Number.POSITIVE_INFINITY)
        return { line, endFor }
      }),
    ...old.exclusions
      .filter((exclusion) => isGone(exclusionUsageKey(exclusion)))
      .map((line) => ({ line, endFor: () => 0 })),
  ]
}
