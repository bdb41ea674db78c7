import type { Arrival } from '../gateway/arrival/arrival.ts'
import type { Reply } from '../gateway/reply.ts'
import type { IncomingRequest } from './connections/incoming-request.ts'

/** Where the client of a refused request goes instead, or `undefined` for the refusal itself. */
export type RedirectOf = (error: unknown, arrival: Arrival) => string | undefined

/** 303 makes a GET of a form that was refused; 302 is what browsers expect of a page. */
export function replyRedirect(location: string, request: IncomingRequest, reply: Reply): void {
  // The rest of a body would be read as the next request.
  if (!request.complete) reply.shouldKeepAlive = false
  redirect(reply, request.method === 'GET' ? 302 : 303, location)
}

export function redirect(
  reply: Reply,
  status: 302 | 303,
  location: string,
  extra: readonly string[] = [],
): void {
  reply.writeHead(status, ['Content-Length', '0', ...redirectHeaders(location), ...extra])
  reply.end()
}

export function redirectHeaders(location: string): readonly string[] {
  return ['Location', location, 'Cache-Control', 'no-store', 'Referrer-Policy', 'no-referrer']
}
