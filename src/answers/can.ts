import type { AccessRoute } from '../admission/routes.ts'
import { effectsByExample, oncePerRule } from './example-effects.ts'
import { createLineages } from './lineage.ts'
import { fullAccess, rolesIn, type Scope } from './query-scope.ts'
import { effectsOf } from './rule-effects.ts'

/** Lists the rules that apply to a role with what they do, grouped by route. */
export function can(scope: Scope, roleKey: string) {
  const { set } = scope.policies
  const free = fullAccess(scope, roleKey)
  const isIndexed = set.model.casbin === undefined
  const { placed, isExact, unasked } =
    free !== undefined
      ? { placed: [], isExact: true, unasked: 0 }
      : isIndexed
        ? effectsOf(scope, roleKey)
        : effectsByExample(scope, roleKey)

  const groups = Map.groupBy(isIndexed ? placed : oncePerRule(placed), ({ place }) => place)
  const rulesAt = (place: AccessRoute | 'any' | 'unserved' | 'ineffective') =>
    (groups.get(place) ?? []).map(({ rule }) => rule)
  const routes = [...scope.admission.routes, 'any' as const].flatMap((place) => {
    const rules = rulesAt(place)
    if (rules.length === 0) return []
    // Without a configuration: any route.
    const route = place === 'any' ? undefined : place
    return [{ route, isFixedResponse: route?.respond !== undefined, rules }]
  })
  return {
    roleKey,
    /** Set when no rule counts: the role may make every call that the gateway does not refuse. */
    unrestricted: free,
    isKnown: free !== undefined || rolesIn(set).includes(roleKey),
    /** Nearest first. */
    inherits: [...createLineages(set).waysUp(roleKey).keys()],
    routes,
    /** Rules on paths that no route serves: with permission, the answer is 404. */
    unserved: rulesAt('unserved'),
    /** Rules on calls that everyone may make, or that the gateway refuses, and idle deny rules. */
    ineffective: rulesAt('ineffective'),
    /** Whether the effects hold for all paths of a rule, and not for its example only. */
    isExact,
    /** Under a model that Casbin evaluates: rules of which no example call could be asked about. */
    unasked,
  }
}
