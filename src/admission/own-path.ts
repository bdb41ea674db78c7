import { canonicalPath, everyAllowance } from '../policy/rule/canonical-path.ts'
import { isPlainQuery, pathOf } from './target.ts'

/** Longer addresses are shortened to their default: they go through a cookie or a query. */
const maxChars = 2048

/**
 * A path of this host that a browser may be sent to, with its query, or `undefined`. Whatever a browser
 * could read as another host (`//evil`, `/\evil`, a scheme, control characters) has no canonical form,
 * so no redirect leaves the origin (CWE-601).
 */
export function readOwnPath(target: string): string | undefined {
  if (target.length > maxChars) return undefined
  const raw = pathOf(target)
  const path = canonicalPath(raw, everyAllowance)
  const query = target.slice(raw.length + 1)
  if (path === undefined || !isPlainQuery(query)) return undefined
  return query === '' ? path : `${path}?${query}`
}
