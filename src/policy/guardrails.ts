import { type Budget, findGain } from './diff/gain.ts'
import { createDomainScopes, otherDomains } from './review/domain-scopes.ts'
import { placeOf } from './review/finding.ts'
import { createGrants, firstMethod, methodBits, treeOf as treeOfRules } from './review/grants.ts'
import { shapeOf, treeOf, visitCovering, visitOverlapping } from './review/pattern-tree.ts'
import type { Rule } from './rule/rule.ts'
import { endOf, formatUntil } from './rule/until.ts'
import { activeAt } from './set/active.ts'
import type { GuardedCalls, Guardrail } from './set/guardrails.ts'
import type { PolicySet } from './set/policy-set.ts'

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

/** A role that may make a call, and a call that shows it. */
interface RoleThatMay {
  readonly roleKey: string
  /** `undefined` when the search for one was given up, so that it may not exist. */
  readonly call: { readonly method: string; readonly path: string } | undefined
  /** What allows it: a rule of the role or of one that it inherits from, or a clause of the matcher. */
  readonly by: Rule | { readonly clause: string } | undefined
}

/** Finds every role that may make one of these calls by rules, `admin` excepted. */
type RolesThatMay = (calls: GuardedCalls) => readonly RoleThatMay[]

/** Spec, Authentication 5a: nothing of the policy applies to it. */
const adminKey = 'admin'

/** Seconds for all guardrails of a policy together. */
const mostSteps = 20_000_000

/**
 * Decides for each role whose rules share a call with the guarded ones, by the exhaustive search of
 * the access diff: paths are infinitely many, but rules tell only finitely many kinds of them apart.
 * The policy has no domains and is of the index grammar.
 */
function createRolesThatMay(set: PolicySet): RolesThatMay {
  const grants = createGrants(set)
  const byPattern = treeOf(set.rules, ({ path }) => path)
  const heirsOf = Map.groupBy(set.inheritances, ({ parentKey }) => parentKey)
  const budget: Budget = { steps: mostSteps }

  function withHeirs(roleKeys: Iterable<string>): readonly string[] {
    const found = new Set(roleKeys)
    for (const each of found) for (const { roleKey } of heirsOf.get(each) ?? []) found.add(roleKey)
    return [...found].filter((roleKey) => roleKey !== adminKey).sort()
  }

  function ruleFor(lineage: readonly string[], bits: number, path: string): Rule | undefined {
    const covering: Rule[] = []
    const segments = path.split('/').slice(1)
    visitCovering(byPattern, { segments, tail: 'end', prefix: '' }, (rules) => {
      covering.push(...rules)
    })
    const allows = ({ effect, method }: Rule) =>
      effect === 'allow' && (methodBits(method) & bits) !== 0
    const owners = lineage.map((each) =>
      covering.find((rule) => rule.roleKey === each && allows(rule)),
    )
    return owners.find((rule) => rule !== undefined)
  }

  return ({ methods, path }) => {
    const shape = shapeOf(path)
    const wanted = methods.reduce((sum, method) => sum | methodBits(method), 0)
    const overlapping: Rule[] = []
    visitOverlapping(byPattern, shape, (rules) => {
      for (const rule of rules) if ((methodBits(rule.method) & wanted) !== 0) overlapping.push(rule)
    })
    const ownRules = Map.groupBy(overlapping, ({ roleKey }) => roleKey)
    const holders = overlapping
      .filter(({ effect }) => effect === 'allow')
      .map(({ roleKey }) => roleKey)
    const byRule = withHeirs(holders).flatMap((roleKey): readonly RoleThatMay[] => {
      if (grants.superuser(roleKey) !== undefined) return []
      const lineage = grants.lineage(roleKey)
      const side = [treeOfRules(lineage.flatMap((each) => ownRules.get(each) ?? []))]
      const gain = findGain(shape, wanted, { from: [], to: side, budget })
      if (gain === undefined) return []
      const { example } = gain
      if (example === undefined) return [{ roleKey, call: undefined, by: undefined }]
      const call = { method: firstMethod(example.methods), path: example.path }
      return [{ roleKey, call, by: ruleFor(lineage, methodBits(call.method), call.path) }]
    })
    const superusers = [...grants.roles].flatMap((roleKey): readonly RoleThatMay[] => {
      const found = roleKey === adminKey ? undefined : grants.superuser(roleKey)
      if (found === undefined || found.deniedBy !== undefined) return []
      const call = exampleOf(path, methods[0] ?? '')
      return [{ roleKey, call, by: { clause: found.clause } }]
    })
    return [...byRule, ...superusers]
  }
}

/** Every rule matches a superuser, so that any call of the pattern shows it. */
function exampleOf(pattern: string, method: string) {
  const path = pattern.replaceAll(/\/:[^/]+/g, '/x').replace(/\*$/, 'x')
  return { method: method === '*' ? 'GET' : method, path }
}
