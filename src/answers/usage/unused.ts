import { adminKey } from '../../policy/decide.ts'
import type { Exclusion, Inheritance, Rule } from '../../policy/rule/rule.ts'
import { type Expiring, endOf } from '../../policy/rule/until.ts'
import { builtInExclusions } from '../../policy/set/built-in-exclusions.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import type { Counted, Usage } from '../../policy/usage/usage.ts'
import { exclusionUsageKey, ruleUsageKey } from '../../policy/usage/usage-key.ts'
import { rolesIn } from '../asked.ts'
import { createLineages } from '../lineage.ts'
import { createStandIns } from './stand-ins.ts'

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
