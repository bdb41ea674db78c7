import { type Admission, evaluate, type Verdict } from '../../admission/verdict.ts'
import { adminKey } from '../../policy/decide.ts'
import type { CompiledSet } from '../../policy/engine/decision.ts'
import { createGrants } from '../../policy/review/grants.ts'
import { createNode, place, shapeOf, visitCovering } from '../../policy/review/pattern-tree.ts'
import type { Exclusion, Rule } from '../../policy/rule/rule.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import { hasMethod } from '../matching-rules.ts'
import { unnamedRole } from '../query-scope.ts'

/**
 * Who may make a call: every client without a token; every caller with a valid token; some roles;
 * only `admin` and superusers; or no caller, because no route serves it or the gateway refuses it.
 */
export type CallAccess = 'public' | 'authenticated' | 'roles' | 'admin' | 'unserved' | 'refused'

/** Who may make a call, and why. */
export interface AnsweredCall {
  readonly access: CallAccess
  /** What the gateway does with a caller whose role has no permissions. */
  readonly verdict: Verdict
  readonly exclusion?: Exclusion
}

/** Casbin evaluates every rule for every decision, about two million a second. */
const mostCasbinSteps = 20_000_000

/** Prepares to answer many calls about one policy and configuration. */
export function createCallAnswers(admission: Admission, policies: CompiledSet) {
  const { set } = policies
  const isCasbin = set.model.casbin !== undefined
  const isAllowed = (roleKey: string, method: string, path: string) => {
    const { allowed, step } = evaluate({ roleKey, method, path }, admission, policies)
    return allowed && step !== 'superuser'
  }
  const { findRole, patterns } = isCasbin
    ? { findRole: createRoleSearch(policies, isAllowed), patterns: undefined }
    : createRuleSearch(policies, isAllowed)

  return {
    /** The patterns of the rules, if the model compares paths with patterns that we know. */
    patterns,
    /** `undefined` when the budget for a slow model is used up. */
    answer(method: string, path: string): AnsweredCall | undefined {
      const asAdmin = evaluate({ roleKey: adminKey, method, path }, admission, policies)
      if (asAdmin.refusal !== undefined) return { access: 'refused', verdict: asAdmin }
      if (asAdmin.isUnserved) return { access: 'unserved', verdict: asAdmin }
      const verdict = evaluate({ roleKey: unnamedRole, method, path }, admission, policies)
      if (verdict.allowed) {
        const { exclusion } = verdict.decision ?? {}
        const access = verdict.need === 'nothing' ? 'public' : 'authenticated'
        return { access, verdict, ...(exclusion !== undefined && { exclusion }) }
      }
      const found = findRole(method, verdict.path ?? path)
      return found === undefined ? undefined : { access: found ? 'roles' : 'admin', verdict }
    },
  }
}

type IsAllowed = (roleKey: string, method: string, path: string) => boolean

/** Whether a role other than `admin` may make the call; `undefined` when the budget is used up. */
type FindRole = (method: string, path: string) => boolean | undefined

/**
 * Asks only the roles that have a matching allow rule. A role that inherits one also inherits every
 * deny rule above it, so it may do nothing that the owner of the rule may not.
 */
function createRuleSearch({ set }: CompiledSet, isAllowed: IsAllowed) {
  const patterns = createNode<readonly Rule[]>()
  for (const [path, rules] of Map.groupBy(set.rules, (rule) => rule.path)) {
    place(patterns, shapeOf(path), (known = []) => [...known, ...rules])
  }
  const hasDeny = set.rules.some(({ effect }) => effect === 'deny')
  const callersBy = createCallersBy(set)

  const findRole: FindRole = (method, path) => {
    const callers = new Set<string>()
    visitCovering(patterns, concreteShape(path), (rules) => {
      for (const rule of rules) {
        // Without deny rules, the first one is enough.
        if (!hasDeny && callers.size > 0) return
        if (rule.effect === 'deny' || !hasMethod(rule, method)) continue
        for (const roleKey of callersBy(rule)) callers.add(roleKey)
      }
    })
    return [...callers].some((roleKey) => isAllowed(roleKey, method, path))
  }
  return { findRole, patterns }
}

/**
 * The roles that a rule may be for: its own. `admin` and superusers need no rules, but the roles that
 * inherit from them may.
 */
function createCallersBy(set: PolicySet): (rule: Rule) => readonly string[] {
  const { superuser } = createGrants(set)
  const heirs = Map.groupBy(set.inheritances, ({ parentKey }) => parentKey)
  const needsRules = (roleKey: string) => roleKey !== adminKey && superuser(roleKey) === undefined

  return ({ roleKey }) => {
    const found = new Set([roleKey])
    for (const each of found) {
      if (needsRules(each)) continue
      for (const heir of heirs.get(each) ?? []) found.add(heir.roleKey)
    }
    return [...found].filter(needsRules)
  }
}

/** Asks every role that the policy names, because only Casbin knows what a rule means. */
function createRoleSearch({ set }: CompiledSet, isAllowed: IsAllowed): FindRole {
  const named = [
    ...set.rules.map(({ roleKey }) => roleKey),
    ...set.inheritances.flatMap(({ roleKey, parentKey }) => [roleKey, parentKey]),
  ]
  const roles = [...new Set(named)].filter((roleKey) => roleKey !== adminKey && roleKey !== '')
  let steps = mostCasbinSteps
  return (method, path) => {
    for (const [at, roleKey] of roles.entries()) {
      steps -= set.rules.length
      if (steps < 0) return undefined
      if (!isAllowed(roleKey, method, path)) continue
      // It probably may make the next call too.
      roles.splice(at, 1)
      roles.unshift(roleKey)
      return true
    }
    return false
  }
}

/** A path as a pattern without parameters, whatever its segments look like. */
function concreteShape(path: string) {
  return { segments: path.split('/').slice(1), tail: 'end', prefix: '' } as const
}
