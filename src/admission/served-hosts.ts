import { hostPatterns } from './canonical-host.ts'
import type { AccessRoute } from './routes.ts'

/** Whether requests for a canonical host are served at all; `undefined`: a request without a host. */
export type ServesHost = (host: string | undefined) => boolean

const everyHost: ServesHost = () => true

/** Serves `hosts`, those of the routes and that of the login page. Without `hosts`, a route for any host opens every host. */
export function createServedHosts(
  routes: readonly AccessRoute[],
  hosts: readonly string[] | undefined,
  pageHost?: string | undefined,
): ServesHost {
  if (hosts === undefined && routes.some((route) => route.hosts === undefined)) return everyHost
  const served = new Set([...(hosts ?? []), ...routes.flatMap((route) => route.hosts ?? [])])
  if (served.size === 0) return everyHost
  if (pageHost !== undefined) served.add(pageHost)

  return (host) => {
    if (host === undefined) return false
    for (const pattern of hostPatterns(host)) if (served.has(pattern)) return true
    return false
  }
}
