import { exampleHost } from '../admission/example-hosts.ts'
import type { OwnEndpoint, PlacedEndpoint } from '../admission/own-endpoints.ts'
import { routeLabel } from '../admission/route-label.ts'
import { coversPath, fitsRoute } from '../admission/route-table.ts'
import type { AccessRoute } from '../admission/routes.ts'
import type { Admission, CallRefusal, Verdict } from '../admission/verdict.ts'
import type { Exclusion } from '../policy/rule/rule.ts'
import { builtInExclusions } from '../policy/set/built-in-exclusions.ts'
import { createPathCases } from './path-cases.ts'
import { type Scope, standingOf } from './query-scope.ts'

/** Lists the own endpoints, routes and exclusions that no rule decides on. */
export function openEndpoints(scope: Scope) {
  const { admission, policies } = scope
  const effectOf = createExclusionEffects(scope)
  const takesFrom = createPrecedence(admission)
  return {
    endpoints: admission.endpoints.map(ownEndpoint),
    routes: admission.routes
      .filter(({ access }) => access !== 'permitted')
      .map((route) => openRoute(route, admission.routes, takesFrom))
      .toSorted((a, b) => (a.need === b.need ? 0 : a.need === 'nothing' ? -1 : 1)),
    /** In the order of the files. The built-in ones are about `endpoints`. */
    exclusions: policies.set.exclusions.map(effectOf),
    /** Without a configuration, routes are missing. */
    areRoutesKnown: admission.areRoutesKnown,
  }
}

function ownEndpoint({ name, open, allow, path, upstream }: PlacedEndpoint) {
  const known = builtInExclusions.find(
    (exclusion) => exclusion.path === path && exclusion.method === allow,
  )
  return {
    by: 'endpoint' as const,
    need: needOf(open),
    method: allow,
    path,
    reason: known?.reason ?? reasons[name] ?? aboutPage,
    /** Serves it instead of the gateway. */
    ...(upstream !== undefined && { upstream }),
  }
}

function needOf(isOpen: boolean): 'nothing' | 'identity' {
  return isOpen ? 'nothing' : 'identity'
}

const reasons: Readonly<Partial<Record<OwnEndpoint['name'], string>>> = {
  captcha: 'The captcha is shown before the login.',
  server: 'Applies to the whole server, not to one path.',
  'oidc-begin': 'A caller who logs in has no role yet.',
  'oidc-callback': 'The identity provider sends callers here before they have a token.',
  'oidc-logout': 'The identity provider proves with a signed token that a session ended.',
}
const aboutPage = 'It is part of the login page.'

function openRoute(
  route: AccessRoute,
  routes: readonly AccessRoute[],
  takesFrom: ReturnType<typeof createPrecedence>,
) {
  const { access, reason, upstream, methods } = route
  return {
    by: 'route' as const,
    need: needOf(access === 'public'),
    path: routeLabel(route),
    covers: coverOf(route),
    ...(methods !== undefined && { methods }),
    ...(reason !== undefined && { reason }),
    ...(upstream !== undefined && { upstream }),
    isFixedResponse: route.respond !== undefined,
    /** Routes that take some of its requests, and need more or less. */
    except: routes
      .filter((other) => other.access !== access && takesFrom(other, route))
      .map((other) => ({ path: routeLabel(other), access: other.access })),
  }
}

function coverOf({ path, hosts = [], match }: AccessRoute): string {
  const place = `${hosts.join(',')}${path}`
  if (match === 'exact') return place
  return path === '/' ? `${place}*` : `${place} and below`
}

/** Finds out whether requests that `route` fits go to `other` instead, by the order of precedence. */
function createPrecedence({
  findRoute,
  routes,
}: Admission): (other: AccessRoute, route: AccessRoute) => boolean {
  const named = new Set(routes.flatMap(({ hosts = [] }) => hosts))
  const examplesOf = ({ hosts = [] }: AccessRoute) =>
    hosts.map((pattern) => exampleHost(pattern, named))

  return (other, route) => {
    if (!coversPath(route, other.path)) return false
    const methods = other.methods ?? route.methods ?? ['GET']
    return [...examplesOf(other), ...examplesOf(route), undefined].some((host) =>
      methods.some(
        (method) => fitsRoute(route, method, host) && findRoute(other.path, method, host) === other,
      ),
    )
  }
}

/** Why an exclusion makes no difference to a call. */
type WithoutEffect =
  | { readonly why: 'refused'; readonly refusal: CallRefusal | undefined }
  | { readonly why: 'unserved' }
  | { readonly why: 'own-endpoint'; readonly need: 'nothing' | 'identity' }
  | { readonly why: 'open-route'; readonly need: 'nothing' | 'identity'; readonly path: string }
  | { readonly why: 'earlier-entry'; readonly exclusion: Exclusion }

/** An entry of the exclusion list, and whether it makes a difference. */
interface ExclusionEffect {
  readonly exclusion: Exclusion
  readonly effect: 'whole' | 'partly' | 'none'
  /** Why some or all of its calls would be answered the same without it. */
  readonly reasons: readonly WithoutEffect[]
}

/** Finds out which exclusions make a difference, whatever the model. */
function createExclusionEffects(scope: Scope): (exclusion: Exclusion) => ExclusionEffect {
  const { policies, admission } = scope
  // Exclusions come before the rules.
  const pathCases = createPathCases({ ...policies.set, rules: [] }, admission)

  return (exclusion) => {
    const reasons = new Map<string, WithoutEffect>()
    let isEffective = false
    pathCases(exclusion.path, (path) => {
      const { verdict } = standingOf(scope, { method: exclusion.method, path })
      const reason = reasonIn(verdict, exclusion)
      if (reason === undefined) isEffective = true
      else reasons.set(JSON.stringify(reason), reason)
    })
    const effect = !isEffective ? 'none' : reasons.size === 0 ? 'whole' : 'partly'
    return { exclusion, effect, reasons: [...reasons.values()] }
  }
}

function reasonIn(
  { refusal, endpoint, route, isUnserved, need, decision }: Verdict,
  exclusion: Exclusion,
): WithoutEffect | undefined {
  if (refusal !== undefined) return { why: 'refused', refusal }
  if (endpoint !== undefined)
    return { why: 'own-endpoint', need: endpoint.open ? 'nothing' : 'identity' }
  if (isUnserved) return { why: 'unserved' }
  if (route !== undefined && (need === 'nothing' || need === 'identity')) {
    return { why: 'open-route', need, path: routeLabel(route) }
  }
  const deciding = decision?.exclusion
  if (deciding === undefined || deciding === exclusion) return undefined
  return { why: 'earlier-entry', exclusion: deciding }
}
