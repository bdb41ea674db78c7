import type { OwnEndpoint, PlacedEndpoint } from '../admission/own-endpoints.ts'
import { routeLabel } from '../admission/route-label.ts'
import type { Access, AccessRoute } from '../admission/routes.ts'
import { builtInExclusions } from '../policy/set/built-in-exclusions.ts'
import type { Asked } from './asked.ts'
import { createExclusionEffects, type ExclusionEffect } from './exclusion-effects.ts'

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
export interface OpenRoute {
  readonly by: 'route'
  readonly need: 'nothing' | 'identity'
  /** The label of the route: with a path alone, it covers that and everything below it, with every method. */
  readonly path: string
  /** Absent when the configuration gives none. */
  readonly reason?: string
  readonly upstream?: string
  /** Routes below it that need more or less. */
  readonly except: readonly { readonly path: string; readonly access: Access }[]
}

/** Everything that callers may do without a permission. */
export interface OpenAnswer {
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
  return {
    endpoints: admission.endpoints.map(ownEndpoint),
    routes: admission.routes
      .filter(({ access }) => access !== 'permitted')
      .map((route) => openRoute(route, admission.routes))
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

function openRoute(route: AccessRoute, routes: readonly AccessRoute[]): OpenRoute {
  const { path, access, reason, upstream } = route
  const inside = path === '/' ? '/' : `${path}/`
  const below = routes.filter((other) => other !== route && other.path.startsWith(inside))
  return {
    by: 'route',
    need: access === 'public' ? 'nothing' : 'identity',
    path: routeLabel(route),
    ...(reason !== undefined && { reason }),
    ...(upstream !== undefined && { upstream }),
    except: below
      .filter((other) => other.access !== access)
      .map((other) => ({ path: routeLabel(other), access: other.access })),
  }
}
