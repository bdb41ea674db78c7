import type { Arrival } from '../gateway/arrival/arrival.ts'
import type { Reply } from '../gateway/reply.ts'
import type { IncomingRequest } from './connections/incoming-request.ts'

/** Where the client of a refused request goes instead, or `undefined` for the refusal itself. */
export type RedirectOf = (error: unknown, arrival: Arrival) => string | undefined

/** 303 makes a GET of a form that was refused; 302 is what browsers expect of a page. */
export function replyRedirect(location: string, request: IncomingRequest, reply: Reply): void {
  // The rest of a body would be read as the next request.
  if (!request.complete) reply.shouldKeepAlive = false
  reply.writeHead(request.method === 'GET' ? 302 : 303, [
    ...['Content-Length', '0'],
    ...redirectHeaders(location),
  ])
  reply.end()
}

export function redirectHeaders(location: string): readonly string[] {
  return ['Location', location, 'Cache-Control', 'no-store', 'Referrer-Policy', 'no-referrer']
}
