import { isRemoved, needsNoLogin } from '../../kernel/endpoints.ts'
import { type Finding, type Locate, placeOf } from '../review/finding.ts'
import { createGrants } from '../review/grants.ts'
import { methodsOf } from '../rule/methods.ts'
import { type Exclusion, quote, type Rule } from '../rule/rule.ts'
import { builtInExclusions } from '../set/built-in-exclusions.ts'
import type { PolicySet } from '../set/policy-set.ts'
import type { Tick } from '../steps.ts'
import { withLastingInheritances } from './expiry.ts'
import { createRedundancy } from './redundancy.ts'
import { createWideRules } from './wide-rules.ts'

/**
 * Finds rules without effect: for admin, for calls that the gateway answers or rejects before the
 * permission check, and rules that one exclusion, or one other rule of the role or of an inherited
 * role, makes redundant. Removing all of them changes no decision. Does not find a rule that only
 * several others together make redundant. A wide rule is reported instead of the rules that it covers:
 * it is the mistake more often, and may cover a whole file.
 */
export function checkRules(
  set: PolicySet,
  locate: Locate,
  { tick, isJudged = () => true }: RuleChecks,
): Finding[] {
  const redundancyOf = createRedundancy(set)
  const superuserReason = createSuperuserReason(set)
  const isInherited = set.inheritances.some(({ parentKey }) => parentKey === adminKey)
  const wide = createWideRules(locate)
  const findings = set.rules.flatMap((rule, index): Finding[] => {
    if (index % 1000 === 0) tick(index, set.rules.length)
    if (!isJudged(rule)) return []
    // Every rule matches a superuser, so every deny rule has an effect.
    if (set.model.superusers !== undefined && rule.effect === 'deny') return []
    const unused = noEffectReason(rule, isInherited) ?? superuserReason(rule)
    if (unused !== undefined) {
      return [
        { ...locate(rule.origin, unused.field), code: 'never-applies', message: unused.message },
      ]
    }
    wide.take(rule)
    const { exclusion, other } = redundancyOf(rule)
    if (other !== undefined && wide.covers(other, rule)) return []
    const message = exclusion ? excludedMessage(exclusion) : other && outweighedMessage(other, rule)
    if (message === undefined) return []
    return [{ ...locate(rule.origin, 'line'), code: 'useless-rule', message }]
  })
  return [...findings, ...wide.findings()]
}

interface RuleChecks {
  readonly tick: Tick
  /** The rules that may be reported; unset: all of them. */
  readonly isJudged?: (rule: Rule) => boolean
}

const adminKey = 'admin'

function noEffectReason({ roleKey, path, method }: Rule, adminIsInherited: boolean) {
  if (roleKey === adminKey && !adminIsInherited) {
    const message = 'no effect: admin skips the permission check'
    return { field: 'role', message } as const
  }
  if (isRemoved(path)) {
    const message = 'no effect: the endpoint is removed and always answers 404'
    return { field: 'path', message } as const
  }
  if (needsNoLogin(path)) {
    const message = 'no effect: the gateway answers this path itself, before the permission check'
    return { field: 'path', message } as const
  }
  const methods = methodsOf(method)
  const isBuiltIn = (each: string) =>
    builtInExclusions.some((own) => own.path === path && own.method === each)
  if (methods.every(isBuiltIn)) {
    const message = 'no effect: every logged-in caller may call this endpoint'
    return { field: 'path', message } as const
  }
  if (methods.every((each) => each === 'TRACE' || each === 'CONNECT')) {
    const message = `no effect: the gateway rejects ${method} requests`
    return { field: 'method', message } as const
  }
  return undefined
}

/** For the rules of a superuser from whom no role inherits them. */
function createSuperuserReason(set: PolicySet) {
  if (set.model.superusers === undefined) return () => undefined
  const { superuser } = createGrants(withLastingInheritances(set))
  const parents = new Set(set.inheritances.map(({ parentKey }) => parentKey))
  return ({ roleKey }: Rule) => {
    const found = parents.has(roleKey) ? undefined : superuser(roleKey)
    if (found === undefined || found.deniedBy !== undefined) return undefined
    const message = `no effect: ${found.clause} in the matcher of model.conf allows this role every call`
    return { field: 'role', message } as const
  }
}

function excludedMessage({ method, path, origin }: Exclusion): string {
  return `no effect: ${placeOf(origin)} excludes ${method} ${path} from the permission check`
}

function outweighedMessage(other: Rule, rule: Rule): string {
  const whose =
    other.roleKey === rule.roleKey ? '' : ` for ${quote(other.roleKey)}, which it inherits from,`
  const does = other.effect === 'allow' ? 'already allows' : 'denies'
  const effect = other.effect === rule.effect ? 'redundant' : 'no effect'
  return `${effect}: ${placeOf(other.origin)}${whose} ${does} ${other.method} ${other.path}`
}
