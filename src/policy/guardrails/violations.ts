import { createDomainScopes, otherDomains } from '../review/domain-scopes.ts'
import { placeOf } from '../review/finding.ts'
import { endOf, formatUntil } from '../rule/until.ts'
import { activeAt } from '../set/active.ts'
import type { Guardrail } from '../set/guardrails.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { createRolesThatMay, type RolesThatMay, type RoleThatMay } from './roles-that-may.ts'

/** How a policy breaks one of its guardrails. */
export interface Violation {
  readonly guardrail: Guardrail
  /** What the policy does, in one line. */
  readonly message: string
  /** The role and a call that prove it, where it is about calls. */
  readonly proof?: { readonly roleKey?: string; readonly method: string; readonly path: string }
}

/** The most roles that are named for one guardrail. */
const mostRoles = 10

/**
 * Every way in which rules, inheritance and superusers break the guardrails of a policy, now and after
 * each later moment at which access can widen because a line expires.
 */
export function ruleViolations(whole: PolicySet, now: number): readonly Violation[] {
  const { guardrails = [] } = whole
  const found: Violation[] = guardrails.flatMap((guardrail) => {
    return guardrail.kind === 'grant-days' ? longGrants(whole, guardrail, now) : []
  })
  const isAboutRoles = guardrails.some(({ kind }) => kind === 'only' || kind === 'never-both')
  // What a rule of Casbin allows, only its matcher knows.
  if (!isAboutRoles || whole.model.casbin !== undefined) return found

  /** By guardrail, the roles that break it: one call of each proves it. */
  const known = new Map<Guardrail, Set<string>>()
  for (const at of momentsOf(whole, now)) {
    const when = at === now ? '' : ` from ${formatUntil(at)}`
    for (const { set, domain } of withoutDomains(activeAt(whole, at))) {
      const where = domain === undefined ? '' : ` in ${domain}`
      const rolesThatMay = createRolesThatMay(set)
      for (const guardrail of guardrails) {
        const roles = known.get(guardrail) ?? new Set()
        known.set(guardrail, roles)
        for (const { role, message } of breakers(guardrail, rolesThatMay)) {
          if (roles.has(role.roleKey) || roles.size === mostRoles) continue
          roles.add(role.roleKey)
          const proof = role.call && { roleKey: role.roleKey, ...role.call }
          found.push({ guardrail, message: `${message}${where}${when}`, ...(proof && { proof }) })
        }
      }
    }
  }
  return found
}

/** The roles that may do what a guardrail forbids them. */
function breakers(guardrail: Guardrail, rolesThatMay: RolesThatMay) {
  if (guardrail.kind === 'only') {
    return rolesThatMay(guardrail.calls)
      .filter(({ roleKey }) => !guardrail.roles.includes(roleKey))
      .map((role) => ({ role, message: may(role) }))
  }
  if (guardrail.kind !== 'never-both') return []
  const [first, second] = guardrail.pair
  const others = new Map(rolesThatMay(second).map((role) => [role.roleKey, role]))
  return rolesThatMay(first).flatMap((role) => {
    const other = others.get(role.roleKey)
    return other === undefined ? [] : [{ role, message: `${may(role)}, and ${may(other)}` }]
  })
}

function may({ roleKey, call, by }: RoleThatMay): string {
  if (call === undefined) return `${roleKey} may be allowed such a call: too many rules to decide`
  const what = `${roleKey} may ${call.method} ${call.path}`
  if (by === undefined) return what
  if ('clause' in by) return `${what} by ${by.clause} in the matcher`
  const heir = by.roleKey === roleKey ? '' : `, which it inherits from ${by.roleKey}`
  return `${what} by ${placeOf(by.origin)}${heir}`
}

const dayMs = 86_400_000

function longGrants(
  { rules, inheritances }: PolicySet,
  guardrail: Guardrail & { readonly kind: 'grant-days' },
  now: number,
): readonly Violation[] {
  const { days, roles } = guardrail
  const latest = now + days * dayMs
  const allows = rules.filter(({ effect }) => effect === 'allow')
  return [...allows, ...inheritances].flatMap((line): readonly Violation[] => {
    const isMeant = roles?.includes(line.roleKey) ?? line.roleKey !== 'admin'
    if (!isMeant || endOf(line) <= latest) return []
    const until =
      line.until === undefined ? 'never expires' : `expires on ${formatUntil(line.until)}`
    const message = `${placeOf(line.origin)}: the line of ${line.roleKey} ${until}`
    return [{ guardrail, message }]
  })
}

/** Access widens later only where an inherited deny rule goes: a `g` line of a policy with deny rules expires. */
function momentsOf({ rules, inheritances }: PolicySet, now: number): readonly number[] {
  if (!rules.some(({ effect }) => effect === 'deny')) return [now]
  const ends = new Set(inheritances.map(endOf).filter((end) => now < end && Number.isFinite(end)))
  return [now, ...[...ends].sort((a, b) => a - b)]
}

/** A policy with a domain as one without for each domain. */
function withoutDomains(
  set: PolicySet,
): readonly { readonly set: PolicySet; readonly domain?: string }[] {
  const { domain } = set.model
  if (domain === undefined) return [{ set }]
  const scopes = createDomainScopes(set, domain)
  return [otherDomains, ...scopes.scopes].map((scope) => ({
    set: scopes.in(scope),
    domain: scope.text,
  }))
}
