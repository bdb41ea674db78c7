import { type Allowance, canonicalPath, everyAllowance } from '../policy/rule/canonical-path.ts'
import { interpretations } from './interpretations.ts'

/** What a route requires: identity and permission, identity only, or neither. */
export type Access = 'permitted' | 'authenticated' | 'public'

/** A path prefix, matched on segment boundaries, and what it requires of a request. */
export interface AccessRoute {
  readonly path: string
  /** Absent when another proxy forwards (forward-auth). */
  readonly upstream?: string
  readonly access: Access
  /** Why it is this open. */
  readonly reason?: string
  /** Replaces `path` in the request to the upstream; `/` removes it. */
  readonly replacePrefix?: string
  readonly allow?: Allowance
}

export type ReadPath = (raw: string) => string | undefined

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

  return (raw) => {
    const plain = canonicalPath(raw)
    if (plain !== undefined) return plain
    const path = canonicalPath(raw, everyAllowance)
    const route = path === undefined ? undefined : findRoute(path)
    if (path === undefined || route?.allow === undefined) return undefined
    if (interpretations(path).some((read) => findRoute(read) !== route)) return undefined
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

export type FindRoute<Route extends AccessRoute> = (path: string) => Route | undefined

/** The longest prefix wins. The path must be canonical, because prefixes are compared as text. */
export function createRoutes<Route extends AccessRoute>(
  routes: readonly Route[],
): FindRoute<Route> {
  const byPrefix = new Map(routes.map((route) => [route.path, route]))
  const everything = byPrefix.get('/')

  return (path) => {
    let end = path.length
    while (end > 0) {
      const found = byPrefix.get(end === path.length ? path : path.slice(0, end))
      if (found !== undefined) return found
      end = path.lastIndexOf('/', end - 1)
    }
    return everything
  }
}
