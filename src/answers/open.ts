import type { OwnEndpoint, PlacedEndpoint } from '../admission/own-endpoints.ts'
import { routeLabel } from '../admission/route-label.ts'
import type { Access, AccessRoute } from '../admission/routes.ts'
import { builtInExclusions } from '../policy/set/built-in-exclusions.ts'
import type { Asked } from './asked.ts'
import { createExclusionEffects, type ExclusionEffect } from './exclusion-effects.ts'
import { createPrecedence } from './precedence.ts'

/** An endpoint of the gateway itself that needs no permission. */
interface OpenOwnEndpoint {
  readonly by: 'endpoint'
  readonly need: 'nothing' | 'identity'
  readonly method: string
  readonly path: string
  readonly reason: string
  /** Serves it instead of the gateway. */
  readonly upstream?: string
}

/** A route that needs no permission. */
interface OpenRoute {
  readonly by: 'route'
  readonly need: 'nothing' | 'identity'
  /** The label of the route. */
  readonly path: string
  /** Hosts and paths that it covers, in words. */
  readonly covers: string
  /** Absent: every method. */
  readonly methods?: readonly string[]
  /** Absent when the configuration gives none. */
  readonly reason?: string
  readonly upstream?: string
  /** Whether the gateway itself responds. */
  readonly isFixedResponse: boolean
  /** Routes that take some of its requests, and need more or less. */
  readonly except: readonly { readonly path: string; readonly access: Access }[]
}

/** Everything that callers may do without a permission. */
interface OpenAnswer {
  readonly endpoints: readonly OpenOwnEndpoint[]
  readonly routes: readonly OpenRoute[]
  /** In the order of the files. The built-in ones are about `endpoints`. */
  readonly exclusions: readonly ExclusionEffect[]
  /** Without a configuration, routes are missing. */
  readonly areRoutesKnown: boolean
}

/** Lists the own endpoints, routes and exclusions that no rule decides on. */
export function openEndpoints(asked: Asked): OpenAnswer {
  const { admission, policies } = asked
  const effectOf = createExclusionEffects(asked)
  const takesFrom = createPrecedence(admission)
  return {
    endpoints: admission.endpoints.map(ownEndpoint),
    routes: admission.routes
      .filter(({ access }) => access !== 'permitted')
      .map((route) => openRoute(route, admission.routes, takesFrom))
      .toSorted((a, b) => (a.need === b.need ? 0 : a.need === 'nothing' ? -1 : 1)),
    exclusions: policies.set.exclusions.map(effectOf),
    areRoutesKnown: admission.areRoutesKnown,
  }
}

function ownEndpoint({ name, open, allow, path, upstream }: PlacedEndpoint): OpenOwnEndpoint {
  const known = builtInExclusions.find(
    (exclusion) => exclusion.path === path && exclusion.method === allow,
  )
  return {
    by: 'endpoint',
    need: open ? 'nothing' : 'identity',
    method: allow,
    path,
    reason: known?.reason ?? reasons[name] ?? aboutPage,
    ...(upstream !== undefined && { upstream }),
  }
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
): OpenRoute {
  const { access, reason, upstream, methods } = route
  return {
    by: 'route',
    need: access === 'public' ? 'nothing' : 'identity',
    path: routeLabel(route),
    covers: coverOf(route),
    ...(methods !== undefined && { methods }),
    ...(reason !== undefined && { reason }),
    ...(upstream !== undefined && { upstream }),
    isFixedResponse: route.respond !== undefined,
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
