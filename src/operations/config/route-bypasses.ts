import { exampleHost } from '../../admission/example-hosts.ts'
import { routeLabel } from '../../admission/route-label.ts'
import { createRoutes } from '../../admission/route-table.ts'
import type { FindRoute } from '../../admission/routes.ts'
import { createServedHosts } from '../../admission/served-hosts.ts'
import type { Config } from '../../config/schema/schema.ts'

type Route = Config['routes'][number]

interface Searched {
  readonly routes: readonly Route[]
  readonly findRoute: FindRoute<Route>
  readonly upstreams: Config['upstreams']
  readonly namedHosts: readonly string[]
  /** Hosts that requests can have and no route names. */
  readonly otherHosts: readonly (string | undefined)[]
  readonly exampleOf: (pattern: string) => string
}

/** Every route is compared on each of them. */
const maxHosts = 100

/**
 * Pairs of routes to one service, of which one asks for less, so that a request in a near spelling
 * (`/admin/`, another method, another Host) gets past the other. One sentence for each, with what to do.
 */
export function bypassesIn({ routes, upstreams, application }: Config): readonly string[] {
  const named = new Set(routes.flatMap(({ hosts = [] }) => hosts))
  const exampleOf = (pattern: string) => exampleHost(pattern, named)
  const isAnyServed = createServedHosts(routes, application.hosts)(undefined)
  const wildcards = [...named].filter((host) => host.startsWith('*'))
  const otherHosts = [
    ...(isAnyServed ? [undefined] : []),
    ...[...(application.hosts ?? []), ...wildcards].slice(0, maxHosts).map(exampleOf),
  ]
  const findRoute = createRoutes(routes)
  const namedHosts = [...named].slice(0, maxHosts)
  const searched = { routes, upstreams, findRoute, namedHosts, otherHosts, exampleOf }
  return routes.flatMap((route) => {
    // A fixed response has nothing behind it.
    if (route.respond !== undefined) return []
    return [byPath, byMethod, byHost, byNamedHost, byHead].flatMap((find) => find(route, searched))
  })
}

/** `/admin/` is another path than the exact `/admin`, and the same page to many services. */
function byPath(route: Route, searched: Searched): readonly string[] {
  const { path, match } = route
  if (match !== 'exact' || path === '/') return []
  const near = path.endsWith('/') ? path.slice(0, -1) : `${path}/`
  const open = openerAt(near, route.methods ?? usualMethods, route, searched)
  if (open === undefined || open.match === 'exact') return []
  const fix = path.endsWith('/')
    ? `add a route for ${near}`
    : `remove match: exact from ${at(route, searched)}`
  return [`${pair(route, open, `${near} reaches`, searched)}: ${fix}`]
}

const reading = ['GET', 'HEAD']
const writing = ['POST', 'PUT', 'PATCH', 'DELETE']
const usualMethods = [...reading, ...writing]

/** Open reading beside closed writing is common; some writing that is left open is a mistake. */
function byMethod(route: Route, searched: Searched): readonly string[] {
  const { methods, path } = route
  if (methods === undefined) return []
  const left = usualMethods.filter((method) => !methods.includes(method))
  const found = left.flatMap((method) => {
    const open = openerAt(path, [method], route, searched)
    return open === undefined || open.methods !== undefined ? [] : [{ method, open }]
  })
  const isLikely = ({ method, open }: (typeof found)[number]) =>
    method === 'HEAD'
      ? methods.includes('GET')
      : writing.includes(method) &&
        (open.path !== path || methods.some((each) => writing.includes(each)))
  return [...Map.groupBy(found.filter(isLikely), ({ open }) => open)].map(([open, some]) => {
    const missing = some.map(({ method }) => method).join(', ')
    const reach = `${missing} ${some.length === 1 ? 'reaches' : 'reach'}`
    return `${pair(route, open, reach, searched)}: add ${missing} to methods of ${at(route, searched)}, or name methods in ${at(open, searched)}`
  })
}

/** Clients choose the Host header, and a service that does not get it cannot tell hosts apart. */
function byHost(route: Route, searched: Searched): readonly string[] {
  const { hosts, upstream, path, methods = usualMethods } = route
  if (hosts === undefined || upstream === undefined) return []
  if (searched.upstreams[upstream]?.host === 'client') return []
  const found = searched.otherHosts.flatMap((host) =>
    methods.map((method) => searched.findRoute(path, method, host)),
  )
  const open = found.find((one) => one !== undefined && isOpener(one, route) && isForOthers(one))
  if (open === undefined) return []
  const fix = `give ${at(open, searched)} another upstream or hosts of its own, or set upstreams.${upstream}.host: client if the service tells hosts apart`
  return [`${pair(route, open, 'another Host header reaches', searched)}: ${fix}`]
}

/** The host decides before the path: a route for one host takes its requests from longer paths for any host. */
function byNamedHost(route: Route, searched: Searched): readonly string[] {
  const { hosts, path, methods = usualMethods } = route
  if (hosts !== undefined) return []
  return searched.namedHosts.flatMap((pattern) => {
    const host = searched.exampleOf(pattern)
    const found = methods.map((method) => searched.findRoute(path, method, host))
    // A route with the same path is an exception that someone has written down.
    const open = found.find((one) => one !== undefined && one.path !== path && isOpener(one, route))
    if (open === undefined) return []
    const fix = `add a route for ${path} with hosts: ['${pattern}']`
    return [`${pair(route, open, `${path} on ${pattern} reaches`, searched)}: ${fix}`]
  })
}

/** The reverse: monitors, caches and link checkers use HEAD on what is open to everyone. */
function byHead(route: Route, searched: Searched): readonly string[] {
  const { path, methods, access } = route
  if (access !== 'public' || !methods?.includes('GET') || methods.includes('HEAD')) return []
  const host = hostsOf(route, searched)[0]
  const other = searched.findRoute(path, 'HEAD', host)
  if (other === undefined || other.access === 'public' || other.methods !== undefined) return []
  return [
    `${pair(route, other, 'HEAD reaches', searched)}: add HEAD to methods of ${at(route, searched)}`,
  ]
}

/** The route that asks for less and serves this path with one of the methods, on a host of the route. */
function openerAt(
  path: string,
  methods: readonly string[],
  route: Route,
  searched: Searched,
): Route | undefined {
  const found = hostsOf(route, searched).flatMap((host) =>
    methods.map((method) => searched.findRoute(path, method, host)),
  )
  return found.find((other) => other !== undefined && isOpener(other, route))
}

function hostsOf({ hosts }: Route, { exampleOf }: Searched): readonly (string | undefined)[] {
  return hosts === undefined ? [undefined] : hosts.map(exampleOf)
}

const openness = { public: 2, authenticated: 1, permitted: 0 } as const

/** Whether a route leads to the same service and asks for less. */
function isOpener(other: Route, route: Route): boolean {
  if (other.respond !== undefined || other.upstream !== route.upstream) return false
  if (other.access !== route.access) return openness[other.access] > openness[route.access]
  return route.addresses !== undefined && other.addresses === undefined
}

/** Whether it serves hosts that it does not name. */
function isForOthers({ hosts }: Route): boolean {
  return hosts === undefined || hosts.some((host) => host.startsWith('*'))
}

const needs = {
  public: 'is public',
  authenticated: 'needs a login',
  permitted: 'needs permission',
} as const

function pair(route: Route, other: Route, reach: string, searched: Searched): string {
  const isAccess = other.access !== route.access
  const [one, two] = isAccess
    ? [needs[route.access], needs[other.access]]
    : ['limits addresses', 'does not']
  return `${at(route, searched)} (${routeLabel(route)}) ${one}, but ${reach} ${at(other, searched)} (${routeLabel(other)}), which ${two}`
}

function at(route: Route, { routes }: Searched): string {
  return `routes[${routes.indexOf(route)}]`
}
