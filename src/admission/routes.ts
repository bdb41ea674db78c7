import { readings } from '../endpoints.ts'
import { type Allowance, canonicalPath, everyAllowance } from '../policy/rule/canonical-path.ts'

/** What a route asks for before a request may pass: both checks, identity only, or neither. */
export type Access = 'permitted' | 'authenticated' | 'public'

/** A path prefix, on segment borders, and what is asked of a request below it. */
export interface AccessRoute {
  readonly path: string
  /** Absent where another proxy forwards. */
  readonly upstream?: string
  readonly access: Access
  /** What stands in place of `path` on the way to the upstream; `/` takes it off. */
  readonly replacePrefix?: string
  readonly allow?: Allowance
}

export type ReadPath = (raw: string) => string | undefined

/**
 * Reads the path of a request. One with `%2F` or `;` in it is read only where the route that it
 * belongs to allows that; it then keeps them for policy, log and upstream alike. One that a server
 * could take for a path of another route is refused: that route may ask for more.
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
    if (readings(path).some((read) => findRoute(read) !== route)) return undefined
    return canonicalPath(raw, route.allow)
  }
}

/**
 * The path that goes out. Canonical like the one that came in: a prefix on segment borders gives
 * way to another, or to nothing.
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

/** Longest prefix wins. The path given must be canonical: prefixes are compared as text. */
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
