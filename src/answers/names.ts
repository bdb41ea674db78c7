import type { AccessRoute } from '../admission/routes.ts'
import { ANY_METHOD } from '../policy/rule/rule.ts'
import { type Operation, operationKey } from './call-cases.ts'
import { rolesIn, type Scope } from './query-scope.ts'

type NamedBy = 'rule' | 'exclusion' | 'route' | 'endpoint' | 'openapi'

/** Every role, method and path that the policy, the configuration or documents name, for completion. */
export function namesIn(
  { policies: { set }, admission }: Scope,
  documented: readonly Operation[] = [],
) {
  const found = new Map<string, Operation & { readonly from: Set<NamedBy> }>()
  const add = (from: NamedBy, method: string, path: string) => {
    const key = operationKey({ method, path })
    const known = found.get(key) ?? { method, path, from: new Set() }
    known.from.add(from)
    found.set(key, known)
  }
  for (const { method, path } of set.rules) add('rule', method, path)
  for (const { method, path } of set.exclusions) add('exclusion', method, path)
  for (const { allow, path } of admission.endpoints) add('endpoint', allow, path)
  for (const route of admission.routes) {
    for (const method of route.methods ?? [ANY_METHOD]) add('route', method, patternOf(route))
  }
  for (const { method, path } of documented) add('openapi', method, path)
  const operations = [...found]
    .filter(([, { path }]) => path.startsWith('/'))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { from, ...operation }]) => ({ ...operation, from: [...from] }))
  return { roles: ['admin', ...rolesIn(set)], operations }
}

function patternOf({ path, match }: AccessRoute): string {
  if (match === 'exact') return path
  return path === '/' ? '/*' : `${path}/*`
}
