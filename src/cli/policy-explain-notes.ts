import type { Config } from '../config/schema.ts'
import { isOpen, isRemoved } from '../endpoints.ts'
import { canonicalPath, everyAllowance } from '../policy/canonical-path.ts'
import type { Question } from '../policy/decision.ts'

/** What the gateway does with a call before, or instead of, asking the policy. */
export function notesOn({ method, path }: Question, config: Config | undefined): readonly string[] {
  const notes: string[] = []
  if (isRemoved(path)) {
    notes.push('the endpoint is removed for good: the gateway answers 404 to everybody')
  }
  if (method === 'TRACE' || method === 'CONNECT') notes.push(`the gateway refuses ${method}`)
  if (isOpen(path)) {
    notes.push('the gateway answers this path itself, before it asks the policy')
  }
  const route = routeOf(path, config)
  if (route !== undefined && route.access !== 'permitted') {
    const who = route.access === 'public' ? 'anybody' : 'whoever is logged in'
    notes.push(
      `the policy is not asked: route ${route.path} of the configuration lets ${who} pass (access ${route.access})`,
    )
  }
  return notes
}

/** The path as the gateway with this configuration reads it; `undefined` when it answers 400. */
export function readPath(raw: string, config: Config | undefined): string | undefined {
  const plain = canonicalPath(raw)
  if (plain !== undefined) return plain
  const odd = canonicalPath(raw, everyAllowance)
  const allow = odd === undefined ? undefined : routeOf(odd, config)?.allow
  return allow === undefined ? undefined : canonicalPath(raw, allow)
}

/** The longest path that is this one or begins it, on segment borders. */
function routeOf(path: string, config: Config | undefined) {
  return (config?.routes ?? [])
    .filter((route) => {
      const below = route.path.endsWith('/') ? route.path : `${route.path}/`
      return path === route.path || path.startsWith(below)
    })
    .toSorted((a, b) => b.path.length - a.path.length)
    .at(0)
}
