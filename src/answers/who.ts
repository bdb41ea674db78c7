import type { Verdict } from '../admission/verdict.ts'
import { adminKey, decide } from '../policy/decide.ts'
import type { Rule } from '../policy/rule/rule.ts'
import { createLineages, type HeldRule, type Lineages } from './lineage.ts'
import { createMatchingRules, hasMethod } from './matching-rules.ts'
import { rolesIn, type Scope, standingOf } from './query-scope.ts'

/** A role and the rule that decides on it. */
export interface RoleByRule extends HeldRule {
  readonly roleKey: string
  /** Other rules that allow the same: taking the first one out is not enough. */
  readonly alsoAllowedBy: readonly HeldRule[]
}

/** Who may make a call. */
export interface WhoAnswer {
  readonly method: string
  /** Canonical; as it was given when the gateway refuses it. */
  readonly path: string
  /** `refused`: to every caller. `open`: everyone may, and the rules do not count. `policy`: `roles` may. */
  readonly kind: 'refused' | 'open' | 'policy'
  /** The verdict on a role without any rule: route, endpoint, exclusion or refusal. */
  readonly verdict: Verdict
  readonly isAdminAllowed: boolean
  /** Roles that a clause of the matcher allows every call. */
  readonly superusers: readonly { readonly roleKey: string; readonly clause: string }[]
  readonly roles: readonly RoleByRule[]
  /** Roles that an allow rule applies to, but a deny rule outweighs it. */
  readonly deniedRoles: readonly RoleByRule[]
  /** Allow rules for the path with other methods. */
  readonly otherMethods: readonly Rule[]
}

/**
 * Finds every role of the policy for which `evaluate` allows a call, and why. The path may have a
 * query, for which the gateway may refuse the call.
 */
export function who(
  scope: Scope,
  call: { readonly method: string; readonly path: string },
): WhoAnswer {
  const { policies } = scope
  const { kind, verdict } = standingOf(scope, call)
  const { method } = call
  const path = verdict.path ?? call.path
  const { host } = verdict
  const isAdminAllowed = kind !== 'refused'
  const answer = { method, path, kind, verdict, isAdminAllowed }
  if (kind !== 'policy') return { ...answer, ...noRoles }

  const lineages = createLineages(policies.set)
  const isIndexed = policies.set.model.casbin === undefined
  const matching = isIndexed ? createMatchingRules(policies.set)(path) : []
  const allowing = matching.filter(({ effect }) => effect === 'allow')
  const sameMethod = allowing.filter((rule) => hasMethod(rule, method))

  const superusers: WhoAnswer['superusers'][number][] = []
  const roles: RoleByRule[] = []
  const deniedRoles: RoleByRule[] = []
  for (const roleKey of rolesIn(policies.set)) {
    const { allowed, rule, clause } = decide({ roleKey, method, path, host }, policies)
    if (allowed && clause !== undefined) superusers.push({ roleKey, clause })
    if (rule === undefined) continue
    const held = heldBy(roleKey, sameMethod, lineages).filter((other) => other.rule !== rule)
    const found = { roleKey, ...lineages.held(roleKey, rule), alsoAllowedBy: held }
    if (allowed) roles.push(found)
    else if (held.length > 0) deniedRoles.push(found)
  }
  const otherMethods = allowing.filter(
    (rule) => rule.roleKey !== adminKey && !hasMethod(rule, method),
  )
  return { ...answer, superusers, roles, deniedRoles, otherMethods }
}

const noRoles = { superusers: [], roles: [], deniedRoles: [], otherMethods: [] }

/** The rules that apply to a role. */
function heldBy(roleKey: string, rules: readonly Rule[], lineages: Lineages): readonly HeldRule[] {
  return rules.flatMap((rule) => {
    const applies = rule.roleKey === roleKey || lineages.waysUp(roleKey).has(rule.roleKey)
    return applies ? [lineages.held(roleKey, rule)] : []
  })
}
