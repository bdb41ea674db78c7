import type { OwnEndpoint, PlacedEndpoint } from '../admission/own-endpoints.ts'
import { routeLabel } from '../admission/route-label.ts'
import type { AccessRoute } from '../admission/routes.ts'
import { builtInExclusions } from '../policy/set/built-in-exclusions.ts'
import type { Asked } from './asked.ts'
import { createExclusionEffects } from './exclusion-effects.ts'
import { createPrecedence } from './precedence.ts'

/** Lists the own endpoints, routes and exclusions that no rule decides on. */
export function openEndpoints(asked: Asked) {
  const { admission, policies } = asked
  const effectOf = createExclusionEffects(asked)
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
  server: 'It is about the server, not about a path.',
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
