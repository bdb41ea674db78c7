import { isRemoved, readsAsOurs } from '../endpoints.ts'
import type { FindOwnEndpoint, OwnEndpoint } from './own-endpoints.ts'
import { type AccessRoute, type FindRoute, outgoingPath } from './routes.ts'

/** What the configuration says about calls. */
export interface Surface<Route extends AccessRoute> {
  readonly findRoute: FindRoute<Route>
  readonly findEndpoint: FindOwnEndpoint
}

/** What a caller needs to show: nothing, a token, or a token whose role has permission. */
export type Need = 'nothing' | 'identity' | 'permission'

/** A call, by the configuration alone: neither caller nor policy has been asked. */
interface Settled<Route extends AccessRoute> {
  /** It must not be reached, whatever the policy says. */
  readonly isRefused: boolean
  readonly route: Route | undefined
  readonly endpoint: OwnEndpoint | undefined
  /** The path for the upstream: that of the call, unless its route replaces the prefix. */
  readonly sentPath: string
  readonly need: Need
}

/**
 * Which endpoint or route a call belongs to, and what that asks of the caller. The gateway and the
 * commands both ask this, so that they cannot disagree. The path has to be canonical.
 */
export function settle<Route extends AccessRoute>(
  method: string,
  path: string,
  { findRoute, findEndpoint }: Surface<Route>,
): Settled<Route> {
  const route = findRoute(path)
  const endpoint = findEndpoint(method, path)
  const sentPath = endpoint === undefined ? outgoingPath(path, route) : path
  // Specification, Removed endpoint. And a rewritten or an oddly spelled path would else be a way to
  // what must not be reached.
  const isRefused = isRemoved(path) || (endpoint === undefined && readsAsOurs(sentPath))
  return { isRefused, route, endpoint, sentPath, need: needOf(route, endpoint) }
}

function needOf(route: AccessRoute | undefined, endpoint: OwnEndpoint | undefined): Need {
  if (endpoint !== undefined) return endpoint.open ? 'nothing' : 'permission'
  // Spec, Authentication 5c: a route without the permission check never undergoes it.
  if (route?.access === 'public') return 'nothing'
  return route?.access === 'authenticated' ? 'identity' : 'permission'
}

/** TRACE would echo the credentials that we hold back; CONNECT asks for another kind of proxy. */
const refusedMethods: ReadonlySet<string> = new Set(['TRACE', 'CONNECT'])

/** Whether no call with this method is served, whatever its path. */
export function isRefusedMethod(method: string): boolean {
  return refusedMethods.has(method)
}
