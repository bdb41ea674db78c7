import { type Allowance, canonicalPath, everyAllowance } from '../policy/rule/canonical-path.ts'
import { interpretations } from './interpretations.ts'

/** What a route requires: identity and permission, identity only, or neither. */
export type Access = 'permitted' | 'authenticated' | 'public'

/** What a route matches, and what it requires of a request. */
export interface AccessRoute {
  /** Stands for the route in logs, metrics and messages. Unset: what it matches. */
  readonly name?: string
  readonly path: string
  /** `prefix` covers the path and everything below it, on segment boundaries. Unset: `prefix`. */
  readonly match?: 'prefix' | 'exact'
  /** Canonical hosts, or `*.` and a canonical host for all names below it. Unset: any host. */
  readonly hosts?: readonly string[]
  /** Unset: any method. */
  readonly methods?: readonly string[]
  /** Absent when another proxy forwards (forward-auth). */
  readonly upstream?: string
  readonly access: Access
  /** The gateway itself responds, instead of an upstream. */
  readonly respond?: object
  /** Why it is this open. */
  readonly reason?: string
  /** Replaces `path` in the request to the upstream; `/` removes it. */
  readonly replacePrefix?: string
  readonly allow?: Allowance
}

/** `host` is canonical; `undefined` finds only routes for any host. `path` must be canonical too. */
export type FindRoute<Route extends AccessRoute> = (
  path: string,
  method: string,
  host?: string,
) => Route | undefined

/** What answers requests on a route; `undefined` when another proxy forwards them (forward-auth). */
export function answererOf({ respond, upstream }: AccessRoute): string | undefined {
  if (respond !== undefined) return 'fixed response'
  return upstream === undefined ? undefined : `upstream ${upstream}`
}

export type ReadPath = (raw: string, method: string, host?: string) => string | undefined

/**
 * Canonicalizes the path of a request. `%2F`, `;`, `%25`, `%23` and `%3F` are accepted only if the route
 * allows them, and then stay in the path for policy, log and upstream. A path that a server could interpret as a path of
 * another route is refused, because that route may require more.
 */
export function createPathReader(
  routes: readonly AccessRoute[],
  findRoute: FindRoute<AccessRoute>,
): ReadPath {
  if (routes.every(({ allow }) => allow === undefined)) return (raw) => canonicalPath(raw)

  return (raw, method, host) => {
    const plain = canonicalPath(raw)
    if (plain !== undefined) return plain
    const path = canonicalPath(raw, everyAllowance)
    const route = path === undefined ? undefined : findRoute(path, method, host)
    if (path === undefined || route?.allow === undefined) return undefined
    if (interpretations(path).some((read) => findRoute(read, method, host) !== route))
      return undefined
    return canonicalPath(raw, route.allow)
  }
}

/**
 * The path for the upstream. It stays canonical, because the prefix is replaced on segment
 * boundaries.
 */
export function outgoingPath(
  path: string,
  route: Pick<AccessRoute, 'path' | 'replacePrefix'> | undefined,
): string {
  if (route?.replacePrefix === undefined) return path
  const rest = route.path === '/' ? path : path.slice(route.path.length)
  if (route.replacePrefix === '/') return rest === '' ? '/' : rest
  return route.replacePrefix + rest
}
