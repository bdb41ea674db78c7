import { classify, isRefusedMethod } from '../admission/classify.ts'
import { exampleHosts } from '../admission/example-hosts.ts'
import { routeLabel } from '../admission/route-label.ts'
import type { AccessRoute } from '../admission/routes.ts'
import type { Admission } from '../admission/verdict.ts'
import type { AccessChange, AccessDiff, Grant } from '../policy/diff/access-change.ts'
import { ANY_METHOD, METHODS } from '../policy/rule/rule.ts'
import { createServingRoutes } from './serving-routes.ts'

/** A diff with what it means for gateways with one configuration. */
export interface PlacedDiff extends AccessDiff {
  /** If not, every change is assumed to have an effect. */
  readonly areRoutesKnown: boolean
  /** Whether a gain has an effect at a gateway with this configuration. */
  readonly widenedHere: boolean
  readonly changes: readonly PlacedChange[]
}

/** A change with the routes that serve its paths. */
interface PlacedChange extends AccessChange {
  readonly hasEffect: boolean
  /** Why not; empty when it has an effect. */
  readonly withoutEffect: readonly WithoutEffect[]
  readonly routes: readonly Pick<AccessRoute, 'path' | 'access' | 'upstream'>[]
}

/**
 * Why the policy does not decide about a call: its route does not ask the policy; no route serves the
 * path; the gateway refuses the call, or answers it without asking.
 */
export type WithoutEffect = 'public' | 'authenticated' | 'no-route' | 'refused' | 'own-endpoint'

/** Finds the routes of each change, and whether it has an effect there. Pure. */
export function placeDiff(diff: AccessDiff, admission: Admission): PlacedDiff {
  const changes = diff.changes.map(createPlacing(admission))
  return {
    ...diff,
    areRoutesKnown: admission.areRoutesKnown,
    widenedHere: changes.some(({ direction, hasEffect }) => direction === 'gain' && hasEffect),
    changes,
  }
}

/** Stands for the methods that no rule can name. */
const otherMethod = 'PROPFIND'

function createPlacing(admission: Admission): (change: AccessChange) => PlacedChange {
  const servingRoutes = createServingRoutes(admission.routes)
  const hosts = exampleHosts(admission)

  /** Why the policy does not decide about this call, if so. */
  function reasonAt(method: string, path: string, host?: string): WithoutEffect | undefined {
    const { isRefused, endpoint, route, need } = classify(method, path, admission, host)
    if (isRefused || endpoint?.name === 'wrong-method') return 'refused'
    if (endpoint !== undefined) return need === 'nothing' ? 'own-endpoint' : undefined
    if (route === undefined) return admission.needsRoute ? 'no-route' : undefined
    return route.access === 'permitted' ? undefined : route.access
  }

  /** Empty when the policy decides about one of its calls. */
  function reasonsFor({ methods, path }: Grant): readonly WithoutEffect[] {
    const calls = callsOf(methods)
    if (calls.length === 0) return ['refused']
    if (!path.includes('*') && !path.includes('/:')) {
      const reasons = hosts.flatMap((host) => calls.map((method) => reasonAt(method, path, host)))
      return reasons.includes(undefined) ? [] : reasons.filter((each) => each !== undefined)
    }
    const { routes, isUnserved } = servingRoutes(path)
    const accesses = routes.map(({ access }) => access)
    if (accesses.includes('permitted') || (isUnserved && !admission.needsRoute)) return []
    const open = accesses.filter((access) => access !== 'permitted')
    return isUnserved ? [...open, 'no-route'] : open
  }

  return (change) => {
    const grants = change.shares.flatMap((share) => share.grants)
    const reasons = grants.map(reasonsFor)
    const hasEffect = reasons.some((each) => each.length === 0)
    const routes = new Set(grants.flatMap((grant) => servingRoutes(grant.path).routes))
    return {
      ...change,
      hasEffect,
      withoutEffect: hasEffect ? [] : [...new Set(reasons.flat())].sort(),
      routes: [...routes].map((route) => ({
        path: routeLabel(route),
        access: route.access,
        ...(route.upstream !== undefined && { upstream: route.upstream }),
      })),
    }
  }
}

/** The methods that the gateway does not refuse on every path. */
function callsOf(methods: readonly string[]): readonly string[] {
  const named = methods.includes(ANY_METHOD) ? [...METHODS, 'other'] : methods
  return named
    .filter((method) => !isRefusedMethod(method))
    .map((method) => (method === 'other' ? otherMethod : method))
}
