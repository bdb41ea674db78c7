import type { AccessRoute } from '../admission/routes.ts'
import { type Asked, rolesIn, type Unrestricted, unrestricted } from './asked.ts'
import { effectsByExample, oncePerRule } from './example-effects.ts'
import { createLineages } from './lineage.ts'
import { type EffectiveRule, effectsOf } from './rule-effects.ts'

/** The rules of a role that count at one route. */
interface RouteRules {
  /** `undefined` without a configuration: any route. */
  readonly route: AccessRoute | undefined
  /** Whether the gateway itself responds there. */
  readonly isFixedResponse: boolean
  readonly rules: readonly EffectiveRule[]
}

/** Everything that a role may do by rules. */
interface CanAnswer {
  readonly roleKey: string
  /** Set when no rule counts: the role may make every call that the gateway does not refuse. */
  readonly unrestricted: Unrestricted | undefined
  /** Whether the policy names the role. */
  readonly isKnown: boolean
  /** The roles that it inherits from, nearest first. */
  readonly inherits: readonly string[]
  readonly routes: readonly RouteRules[]
  /** Rules on paths that no route serves: with permission, the answer is 404. */
  readonly unserved: readonly EffectiveRule[]
  /** Rules on calls that everyone may make, or that the gateway refuses, and idle deny rules. */
  readonly ineffective: readonly EffectiveRule[]
  /** Whether the effects hold for all paths of a rule, and not for its example only. */
  readonly isExact: boolean
  /** Under a model that Casbin evaluates: rules of which no example call could be asked about. */
  readonly unasked: number
}

/** Lists the rules that apply to a role with what they do, grouped by route. */
export function can(asked: Asked, roleKey: string): CanAnswer {
  const { set } = asked.policies
  const free = unrestricted(asked, roleKey)
  const isIndexed = set.model.casbin === undefined
  const { placed, isExact, unasked } =
    free !== undefined
      ? { placed: [], isExact: true, unasked: 0 }
      : isIndexed
        ? effectsOf(asked, roleKey)
        : effectsByExample(asked, roleKey)

  const groups = Map.groupBy(isIndexed ? placed : oncePerRule(placed), ({ place }) => place)
  const rulesAt = (place: AccessRoute | 'any' | 'unserved' | 'ineffective') =>
    (groups.get(place) ?? []).map(({ rule }) => rule)
  const routes = [...asked.admission.routes, 'any' as const].flatMap((place): RouteRules[] => {
    const rules = rulesAt(place)
    if (rules.length === 0) return []
    const route = place === 'any' ? undefined : place
    return [{ route, isFixedResponse: route?.respond !== undefined, rules }]
  })
  return {
    roleKey,
    unrestricted: free,
    isKnown: free !== undefined || rolesIn(set).includes(roleKey),
    inherits: [...createLineages(set).waysUp(roleKey).keys()],
    routes,
    unserved: rulesAt('unserved'),
    ineffective: rulesAt('ineffective'),
    isExact,
    unasked,
  }
}
