import type { WireRequest } from './request-head.ts'

/** RFC 9110 9.2.2. */
const idempotent = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

/** Whether a request may be sent twice: its method is idempotent and it has no body (never kept). */
export function mayRepeat({ method, upload }: WireRequest): boolean {
  return upload === undefined && idempotent.has(method)
}
