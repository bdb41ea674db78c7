import type { AccessRoute } from './routes.ts'

type Labeled = Pick<AccessRoute, 'path' | 'name' | 'hosts' | 'methods' | 'match'>

/** A route in logs, metrics and messages: its name, or else what it matches. */
export function routeLabel(route: Labeled): string {
  if (route.name !== undefined) return route.name
  const { hosts, methods, match } = route
  if (hosts === undefined && methods === undefined && match !== 'exact') return route.path
  const known = labels.get(route)
  if (known !== undefined) return known
  const label = matched(route)
  labels.set(route, label)
  return label
}

/** Runs on every request, and a text made of several parts would be made each time. */
const labels = new WeakMap<Labeled, string>()

/** `GET,HEAD api.example.com,*.example.org/orders`; `=` precedes an exact path, as in nginx. */
function matched({ path, hosts = [], methods, match }: Labeled): string {
  const method = methods === undefined ? '' : `${methods.join(',')} `
  return `${method}${hosts.join(',')}${match === 'exact' ? '=' : ''}${path}`
}
