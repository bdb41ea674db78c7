import type { RouteLimit } from './route-limits.ts'

/** What a route asks for before a request may pass: both checks, identity only, or neither. */
export type Access = 'permitted' | 'authenticated' | 'public'

/** A path prefix, on segment borders, and the upstream behind it. */
export interface Route {
  readonly path: string
  /** Absent where another proxy forwards. */
  readonly upstream?: string
  readonly access: Access
  readonly forwardCredentials: boolean
  readonly limit?: RouteLimit
}

export type FindRoute = (path: string) => Route | undefined

/** Longest prefix wins. The path given must be canonical: prefixes are compared as text. */
export function createRoutes(routes: readonly Route[]): FindRoute {
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
