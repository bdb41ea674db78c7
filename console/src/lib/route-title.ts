import type { Route } from '#client'

/** A route as logs and commands name it: `GET,HEAD api.example.com/orders`; `=` precedes an exact path. */
export function routeTitle({ name, path, hosts = [], methods, match }: Route): string {
  if (name !== undefined) return name
  const method = methods === undefined ? '' : `${methods.join(',')} `
  return `${method}${hosts.join(',')}${match === 'exact' ? '=' : ''}${path}`
}
