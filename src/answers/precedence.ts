import { exampleHost } from '../admission/asked-hosts.ts'
import { hostPatterns } from '../admission/canonical-host.ts'
import type { AccessRoute } from '../admission/routes.ts'
import type { Admission } from '../admission/verdict.ts'

/** Finds out whether requests that `route` fits go to `other` instead, by the order of precedence. */
export function createPrecedence({
  findRoute,
  routes,
}: Admission): (other: AccessRoute, route: AccessRoute) => boolean {
  const named = new Set(routes.flatMap(({ hosts = [] }) => hosts))
  const examplesOf = ({ hosts = [] }: AccessRoute) =>
    hosts.map((pattern) => exampleHost(pattern, named))

  return (other, route) => {
    if (!coversPath(route, other.path)) return false
    const methods = other.methods ?? route.methods ?? ['GET']
    return [...examplesOf(other), ...examplesOf(route), undefined].some((host) =>
      methods.some(
        (method) => fits(route, method, host) && findRoute(other.path, method, host) === other,
      ),
    )
  }
}

function coversPath({ path, match }: AccessRoute, other: string): boolean {
  if (other === path) return true
  return match !== 'exact' && other.startsWith(path === '/' ? path : `${path}/`)
}

function fits({ methods, hosts }: AccessRoute, method: string, host: string | undefined): boolean {
  if (methods !== undefined && !methods.includes(method)) return false
  if (hosts === undefined) return true
  return host !== undefined && [...hostPatterns(host)].some((pattern) => hosts.includes(pattern))
}
