import { isRemoved } from '../kernel/endpoints.ts'
import { mayReachReservedPath } from './interpretations.ts'
import type { FindOwnEndpoint, OwnEndpoint } from './own-endpoints.ts'
import { type AccessRoute, type FindRoute, outgoingPath } from './routes.ts'

/** The routes and endpoints of a configuration. */
export interface Surface<Route extends AccessRoute> {
  readonly findRoute: FindRoute<Route>
  readonly findEndpoint: FindOwnEndpoint
}

/** What a caller needs: nothing, a valid token, or a valid token whose role has permission. */
export type Need = 'nothing' | 'identity' | 'permission'

/**
 * Finds the endpoint or route of a request, and what it requires of the caller, before identity and
 * policy. The gateway and the commands both use it, so that they cannot disagree. Path and host must be
 * canonical; without a host, only routes for any host match. `sentPath` is the path for the upstream.
 */
export function classify<Route extends AccessRoute>(
  method: string,
  path: string,
  { findRoute, findEndpoint }: Surface<Route>,
  host?: string,
) {
  const route = findRoute(path, method, host)
  const endpoint = findEndpoint(method, path)
  const sentPath = endpoint === undefined ? outgoingPath(path, route) : path
  // Specification, Removed endpoint. A rewritten or oddly encoded path must not become a way to reach
  // an endpoint that must not be served.
  const isRefused = isRemoved(path) || (endpoint === undefined && mayReachReservedPath(sentPath))
  return { isRefused, route, endpoint, sentPath, need: needOf(route, endpoint) }
}

function needOf(route: AccessRoute | undefined, endpoint: OwnEndpoint | undefined): Need {
  if (endpoint?.identityOnly) return 'identity'
  if (endpoint !== undefined) return endpoint.open ? 'nothing' : 'permission'
  // Spec, Authentication 5c: a route without the permission check never undergoes it.
  if (route?.access === 'public') return 'nothing'
  return route?.access === 'authenticated' ? 'identity' : 'permission'
}

/** TRACE would echo credentials that Postern removes; CONNECT is for a forward proxy. */
const refusedMethods: ReadonlySet<string> = new Set(['TRACE', 'CONNECT'])

/** Whether requests with this method are refused on every path. */
export function isRefusedMethod(method: string): boolean {
  return refusedMethods.has(method)
}
