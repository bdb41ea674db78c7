import { ancestorEnds } from '../policy/engine/ancestor-ends.ts'
import type { Inheritance, Rule } from '../policy/rule/rule.ts'
import { endOf } from '../policy/rule/until.ts'
import type { PolicySet } from '../policy/set/policy-set.ts'
import { finish } from '../policy/steps.ts'

/** Who inherits from whom in a policy. */
export type Lineages = ReturnType<typeof createLineages>

export function createLineages({ inheritances }: PolicySet) {
  // Other relations, such as g2, are between resources.
  const links = inheritances.filter(({ relation }) => relation === undefined)
  const upward = Map.groupBy(links, ({ roleKey }) => roleKey)
  const downward = Map.groupBy(links, ({ parentKey }) => parentKey)
  const heirsOf = new Map<string, readonly string[]>()
  const waysOf = new Map<string, ReadonlyMap<string, readonly string[]>>()
  const ends = links.some(({ until }) => until !== undefined)
    ? finish(ancestorEnds(links))
    : undefined

  /** The shortest way from a role to each role that it inherits from, nearest first. */
  function waysUp(roleKey: string): ReadonlyMap<string, readonly string[]> {
    const known = waysOf.get(roleKey) ?? waysFrom(roleKey, upward)
    waysOf.set(roleKey, known)
    return known
  }

  return {
    waysUp,
    /** A rule of the role, or of one that it inherits from, with the way to it and its end. */
    held(roleKey: string, rule: Rule): HeldRule {
      const via = rule.roleKey === roleKey ? [] : (waysUp(roleKey).get(rule.roleKey) ?? [])
      const ofWay = via.length === 0 ? undefined : ends?.get(roleKey)?.get(rule.roleKey)
      const until = Math.min(endOf(rule), ofWay ?? Number.POSITIVE_INFINITY)
      return { rule, via, ...(Number.isFinite(until) && { until }) }
    },
    /** The role and every role that inherits from it. */
    heirs(roleKey: string) {
      const known = heirsOf.get(roleKey) ?? reached(roleKey, downward)
      heirsOf.set(roleKey, known)
      return known
    },
  }
}

type Links = ReadonlyMap<string, readonly Inheritance[]>

function waysFrom(roleKey: string, links: Links): ReadonlyMap<string, readonly string[]> {
  const ways = new Map<string, readonly string[]>([[roleKey, []]])
  // The loop also visits the entries that it adds, so the first way found is the shortest.
  for (const [each, way] of ways) {
    for (const { parentKey } of links.get(each) ?? []) {
      if (!ways.has(parentKey)) ways.set(parentKey, [...way, parentKey])
    }
  }
  ways.delete(roleKey)
  return ways
}

function reached(roleKey: string, links: Links): readonly string[] {
  const found = new Set([roleKey])
  for (const each of found) for (const link of links.get(each) ?? []) found.add(link.roleKey)
  return [...found]
}

/** A rule that applies to a role, and how the role comes by it. */
export interface HeldRule {
  readonly rule: Rule
  /** The roles between: empty for a rule of its own, else up to the role that the rule names. */
  readonly via: readonly string[]
  /** When the role loses the rule: the rule expires, or the last way to it does. */
  readonly until?: number
}
