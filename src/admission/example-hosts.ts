import type { AccessRoute } from './routes.ts'
import type { Admission } from './verdict.ts'

/**
 * A host for each kind of host that routes tell apart: those that they name, one below each wildcard,
 * and `undefined` for all others, unless no request for them is served.
 */
export function exampleHosts({
  routes,
  servesHost,
}: Pick<Admission, 'routes' | 'servesHost'>): readonly (string | undefined)[] {
  const named = new Set(routes.flatMap(({ hosts = [] }) => hosts))
  if (named.size === 0) return [undefined]
  const examples = [...named].map((pattern) => exampleHost(pattern, named))
  return servesHost(undefined) ? [undefined, ...examples] : examples
}

/** A host that this pattern matches, and no more specific one of `named`. */
export function exampleHost(pattern: string, named: ReadonlySet<string>): string {
  if (!pattern.startsWith('*')) return pattern
  // Short, because a host is limited to 253 characters. Other wildcards need another label before it.
  for (let number = 0; ; number++) {
    const host = `_${number === 0 ? '' : number}${pattern.slice(1)}`
    if (!named.has(host)) return host
  }
}

/** What a question without a host assumes, for the user; `undefined` if no route names a host. */
export function assumedHostNote({
  routes,
  assumedHost,
}: {
  readonly routes: readonly AccessRoute[]
  readonly assumedHost?: string | undefined
}): string | undefined {
  const named = [...new Set(routes.flatMap(({ hosts = [] }) => hosts))]
  if (named.length === 0 || assumedHost !== undefined) return undefined
  const some = named.slice(0, 3).join(', ')
  const more = named.length > 3 ? ` and ${named.length - 3} more` : ''
  return `no host is given: only routes for any host count; routes with hosts (${some}${more}) need --host`
}
