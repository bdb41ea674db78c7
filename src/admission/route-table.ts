import { hostPatterns } from './canonical-host.ts'
import type { AccessRoute, FindRoute } from './routes.ts'

/** The routes at one path: those for certain methods come before the one for all others. */
interface RoutesAtPath<Route> {
  readonly byMethod: Map<string, Route>
  other: Route | undefined
}

interface Paths<Route> {
  readonly exact: Map<string, RoutesAtPath<Route>>
  readonly prefix: Map<string, RoutesAtPath<Route>>
}

const anyHost = '*'

/**
 * Finds the route of a request in the order of the Kubernetes Gateway API: an exact host, the longest
 * wildcard, any host; then an exact path, the longest prefix; then a route with the method, one without
 * methods. A route that does not fit in all three is passed over.
 */
export function createRoutes<Route extends AccessRoute>(
  routes: readonly Route[],
): FindRoute<Route> {
  const byHost = new Map<string, Paths<Route>>()
  for (const route of routes) {
    for (const host of route.hosts ?? [anyHost]) {
      const paths = byHost.get(host) ?? { exact: new Map(), prefix: new Map() }
      byHost.set(host, paths)
      addRoute(paths, route)
    }
  }
  const finders = new Map(Array.from(byHost, ([host, paths]) => [host, createFinder(paths)]))
  const inAny = finders.get(anyHost) ?? (() => undefined)
  if (finders.size === (finders.has(anyHost) ? 1 : 0)) return inAny

  return (path, method, host) => {
    if (host === undefined) return inAny(path, method)
    for (const pattern of hostPatterns(host)) {
      const found = finders.get(pattern)?.(path, method)
      if (found !== undefined) return found
    }
    return inAny(path, method)
  }
}

function addRoute<Route extends AccessRoute>({ exact, prefix }: Paths<Route>, route: Route): void {
  const paths = route.match === 'exact' ? exact : prefix
  const entry: RoutesAtPath<Route> = paths.get(route.path) ?? {
    byMethod: new Map(),
    other: undefined,
  }
  paths.set(route.path, entry)
  if (route.methods === undefined) entry.other = route
  for (const method of route.methods ?? []) entry.byMethod.set(method, route)
}

type FindPath<Route> = (path: string, method: string) => Route | undefined

/** Prefixes are compared as text, on segment boundaries. */
function createFinder<Route>({ exact, prefix }: Paths<Route>): FindPath<Route> {
  const root = prefix.get('/')

  return (path, method) => {
    const whole = exact.size === 0 ? undefined : routeAt(exact.get(path), method)
    if (whole !== undefined) return whole
    let end = path.length
    while (end > 0) {
      const found = routeAt(prefix.get(end === path.length ? path : path.slice(0, end)), method)
      if (found !== undefined) return found
      end = path.lastIndexOf('/', end - 1)
    }
    return routeAt(root, method)
  }
}

function routeAt<Route>(entry: RoutesAtPath<Route> | undefined, method: string): Route | undefined {
  if (entry === undefined) return undefined
  return (entry.byMethod.size === 0 ? undefined : entry.byMethod.get(method)) ?? entry.other
}

/** What the settings of a route match, as far as they fit the schema. */
interface DraftMatch {
  readonly match?: string | undefined
  readonly hosts?: readonly (string | undefined)[] | undefined
  readonly methods?: readonly (string | undefined)[] | undefined
}

/** Everything of a route that has one place in the order of precedence, and how to say it. */
export function placesOf(path: string, { match = 'prefix', hosts, methods }: DraftMatch) {
  return (hosts ?? [undefined]).flatMap((host) =>
    (methods ?? [undefined]).map((method) => ({
      key: JSON.stringify([match, path, host, method]),
      words: `${host === undefined ? '' : ` on ${host}`}${method === undefined ? '' : ` with ${method}`}`,
    })),
  )
}

/** Whether a route matches requests for this path, as far as that is for the path to say. */
export function coversPath({ path, match }: AccessRoute, other: string): boolean {
  if (other === path) return true
  return match !== 'exact' && other.startsWith(path === '/' ? path : `${path}/`)
}

/** Whether it matches the rest of a request. */
export function fitsRoute(
  { methods, hosts }: AccessRoute,
  method: string,
  host: string | undefined,
): boolean {
  if (methods !== undefined && !methods.includes(method)) return false
  if (hosts === undefined) return true
  return host !== undefined && [...hostPatterns(host)].some((pattern) => hosts.includes(pattern))
}
