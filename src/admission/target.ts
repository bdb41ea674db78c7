import { isServerWide, serverWide } from './own-endpoints.ts'
import type { ReadPath } from './routes.ts'

export interface TargetParts {
  readonly readPath: ReadPath
  readonly maxTargetBytes: number
}

/** A request target that every server reads in one way. */
interface AcceptedTarget {
  readonly refusal?: undefined
  /** Canonical, or `*`. */
  readonly path: string
  /** The raw text after `?`, or empty. */
  readonly query: string
}

interface RefusedTarget {
  readonly refusal: 'ambiguous-path' | 'target-too-long'
  readonly path?: undefined
  /** For the log. */
  readonly reason?: string
}

/** Splits a request target and canonicalizes its path, or says why the gateway refuses it. */
export function readTarget(
  method: string,
  target: string,
  { readPath, maxTargetBytes }: TargetParts,
  host?: string,
): AcceptedTarget | RefusedTarget {
  if (isServerWide(method, target)) return { path: serverWide, query: '' }
  if (target.length > maxTargetBytes) return { refusal: 'target-too-long' }

  const raw = pathOf(target)
  const path = readPath(raw, method, host)
  if (path === undefined) return { refusal: 'ambiguous-path' }
  const query = target.slice(raw.length + 1)
  if (isPlainQuery(query)) return { path, query }
  return { refusal: 'ambiguous-path', reason: 'invalid character in the query' }
}

/** What comes before the query, as the client wrote it. */
export function pathOf(target: string): string {
  const mark = target.indexOf('?')
  return mark === -1 ? target : target.slice(0, mark)
}

/** Printable ASCII without `#`: a fragment has no place in a request target (RFC 9112 3.2.1). */
export function isPlainQuery(query: string): boolean {
  return /^[\x21\x22\x24-\x7e]*$/.test(query)
}
