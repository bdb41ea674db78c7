import { adminKey } from '../../policy/decide.ts'
import { methodBits } from '../../policy/review/grants.ts'
import { shapeOf, treeOf, visitOverlapping } from '../../policy/review/pattern-tree.ts'
import type { Exclusion, Inheritance, Rule } from '../../policy/rule/rule.ts'
import { type Expiring, endOf } from '../../policy/rule/until.ts'
import { builtInExclusions } from '../../policy/set/built-in-exclusions.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import type { Counted, Usage } from '../../policy/usage/usage.ts'
import { exclusionUsageKey, ruleUsageKey } from '../../policy/usage/usage-key.ts'
import { createLineages } from '../lineage.ts'
import { rolesIn } from '../query-scope.ts'

/** Something of a policy that was not used. */
interface Unused<What> {
  readonly what: What
  /** It came after the observation had begun, so its disuse says little. */
  readonly isNew: boolean
}

/** What of a policy no request needed. */
export interface UnusedAnswer {
  /** Rules that allow and never decided. */
  readonly grants: readonly Unused<Rule>[]
  readonly exclusions: readonly Unused<Exclusion>[]
  /** Roles of the policy that no token carried, nor a role that inherits from them. */
  readonly roles: readonly Unused<string>[]
  /** Roles that tokens carried and the policy does not name. */
  readonly unmentioned: readonly (Counted & { readonly roleKey: string })[]
}

/** What is known about the time of an observation. */
interface ObservationTime {
  /** Policies from its beginning on; `undefined` when that is not known: all may be new. */
  readonly before: readonly PolicySet[] | undefined
  /** The end of the observation, in milliseconds. */
  readonly now: number
}

/**
 * Finds what was not used. Rules that deny are left out: one that never matched may be what keeps
 * callers from trying. So are lines that take over from one that decided and does not last.
 */
export function unusedOf(
  set: PolicySet,
  usage: Pick<Usage, 'decisions' | 'roles'>,
  began: ObservationTime,
): UnusedAnswer {
  const age = createAge(set, began)
  const isUsed = (key: string) => usage.decisions.has(key)
  const { isStandIn } = createStandIns(set, isUsed, began.before ?? [])
  const { heirs } = createLineages(set)
  const isSeen = (roleKey: string) => usage.roles.has(roleKey)
  const named = rolesIn(set)
  const mentioned = new Set([...named, adminKey])
  return {
    grants: set.rules
      .filter((rule) => rule.effect === 'allow' && !isUsed(ruleUsageKey(rule)))
      .filter((rule) => !isStandIn(rule))
      .map((what) => ({ what, isNew: age.isNewRule(what) })),
    exclusions: set.exclusions
      .filter((exclusion) => !neverCounted.has(exclusionUsageKey(exclusion)))
      .filter((exclusion) => !isUsed(exclusionUsageKey(exclusion)) && !isStandIn(exclusion))
      .map((what) => ({ what, isNew: age.isNewExclusion(what) })),
    roles: named
      .filter((roleKey) => !heirs(roleKey).some(isSeen))
      .map((what) => ({ what, isNew: age.isNewRole(what) })),
    unmentioned: [...usage.roles]
      .filter(([roleKey]) => !mentioned.has(roleKey))
      .map(([roleKey, counted]) => ({ roleKey, ...counted }))
      .toSorted((a, b) => b.count - a.count || (a.roleKey < b.roleKey ? -1 : 1)),
  }
}

/** The gateway answers login and captcha before it asks a policy, whether or not one lists them. */
const neverCounted: ReadonlySet<string> = new Set(builtInExclusions.map(exclusionUsageKey))

/** What was not in the policies of the observation. */
function createAge(set: PolicySet, { before, now }: ObservationTime) {
  const { heirs } = createLineages(set)
  const olds = (before ?? []).map((old) => ({
    rules: new Map(old.rules.map((rule) => [ruleUsageKey(rule), rule])),
    exclusions: new Map(old.exclusions.map((each) => [exclusionUsageKey(each), each])),
    links: new Map(old.inheritances.map((link) => [linkKey(link), link])),
    roles: new Set(rolesIn(old)),
    heirs: createLineages(old).heirs,
  }))
  const isNew = (isIn: (old: (typeof olds)[number]) => boolean) =>
    before === undefined || !olds.every(isIn)
  /** Whether a line was valid all the time, or as long as it is now. */
  const wasThere = (former: Expiring | undefined, line: Expiring) =>
    former !== undefined && endOf(former) >= Math.min(endOf(line), now)
  const linksOf = Map.groupBy(set.inheritances, ({ roleKey }) => roleKey)
  const hasNewLink = (roleKey: string) =>
    isNew(({ links }) =>
      (linksOf.get(roleKey) ?? []).every((link) => wasThere(links.get(linkKey(link)), link)),
    )
  const newHeirs = new Map<string, boolean>()
  /** Whether a role inherits from it now and did not before: that grant is new to it. */
  function hasNewHeir(roleKey: string): boolean {
    const known =
      newHeirs.get(roleKey) ??
      isNew((old) => {
        const former = new Set(old.heirs(roleKey))
        return heirs(roleKey).every((heir) => former.has(heir))
      })
    newHeirs.set(roleKey, known)
    return known
  }

  return {
    isNewRule: (rule: Rule) =>
      isNew(({ rules }) => wasThere(rules.get(ruleUsageKey(rule)), rule)) ||
      hasNewHeir(rule.roleKey),
    isNewExclusion: (exclusion: Exclusion) =>
      isNew(({ exclusions }) => wasThere(exclusions.get(exclusionUsageKey(exclusion)), exclusion)),
    isNewRole: (roleKey: string) =>
      isNew(({ roles }) => roles.has(roleKey)) || hasNewHeir(roleKey) || hasNewLink(roleKey),
  }
}

function linkKey({ roleKey, parentKey, domain }: Inheritance): string {
  return JSON.stringify([roleKey, parentKey, domain])
}

/** A line that decided calls, and when a role loses it; 0 for a line that has gone. */
interface Decided {
  readonly line: Rule | Exclusion
  readonly endFor: (roleKey: string) => number
}

/**
 * Finds lines that take over from one that decided: it expires before them, or has gone since the
 * observation began. That they have not decided yet does not make them superfluous.
 */
function createStandIns(
  set: PolicySet,
  isUsed: (key: string) => boolean,
  before: readonly PolicySet[],
) {
  const lineages = createLineages(set)
  const current = new Set([
    ...set.rules.map(ruleUsageKey),
    ...set.exclusions.map(exclusionUsageKey),
  ])
  const decided = [
    ...limited(set, lineages, isUsed),
    ...before.flatMap((old) => gone(old, (key) => isUsed(key) && !current.has(key))),
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
