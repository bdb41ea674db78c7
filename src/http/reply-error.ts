import { Fault, Refusal, type RefusalDetail } from '../errors.ts'
import type { Reply } from '../gateway/reply.ts'
import type { IncomingRequest } from './connections/incoming-request.ts'
import { bugEnvelope, type Envelope, faultEnvelopes, type RefusalEnvelopes } from './envelope.ts'
import { replyJson } from './json-reply.ts'

/** The true result behind an HTTP 200, for log and metrics. */
type Outcome = Refusal['kind'] | Fault['part'] | 'bug'

interface ErrorReply {
  readonly outcome: Outcome
  readonly envelope: Envelope
}

/** The only mapping from a thrown error to a response. */
export function errorReply(error: unknown, refusals: RefusalEnvelopes): ErrorReply {
  if (error instanceof Refusal) return { outcome: error.kind, envelope: refusals[error.kind] }
  if (error instanceof Fault) return { outcome: error.part, envelope: faultEnvelopes[error.part] }
  return { outcome: 'bug', envelope: bugEnvelope }
}

/** The only writer of refusals and faults. */
export function replyError(
  error: unknown,
  { envelope }: ErrorReply,
  {
    request,
    reply,
    requestId,
  }: {
    request: IncomingRequest
    reply: Reply
    requestId: string | undefined
  },
): void {
  if (reply.headersSent) {
    reply.destroy()
    return
  }

  const { status, code, msg } = envelope
  // Specification, Errors: the body of a refusal has exactly `code` and `msg`.
  const body = status === 200 ? { code, msg } : { code, msg, requestId }
  const extra: string[] = []
  if (error instanceof Refusal) extra.push(...detailHeaders(error.detail))
  if (error instanceof Fault && retriedSoon.has(error.part)) extra.push('Retry-After', '1')
  // RFC 9110 15.5.2: a real 401 must name a challenge.
  if (status === 401) extra.push('WWW-Authenticate', 'Bearer')
  if (!isSafeToReuse(request, status)) reply.shouldKeepAlive = false
  replyJson(reply, status, body, extra)
}

/** These pass as soon as there are fewer concurrent requests. */
const retriedSoon: ReadonlySet<string> = new Set(['overloaded', 'upstream-share'])

function detailHeaders({ retryAfterSeconds, limit, allow }: RefusalDetail): string[] {
  return [
    ...(retryAfterSeconds === undefined ? [] : ['Retry-After', String(retryAfterSeconds)]),
    ...(limit === undefined
      ? []
      : ['X-RateLimit-Limit', String(limit), 'X-RateLimit-Remaining', '0']),
    ...(allow === undefined ? [] : ['Allow', allow]),
  ]
}

/** A body up to this size is read and discarded; a larger one closes the connection. */
const maxDrained = 65_536

const unsafe: ReadonlySet<number> = new Set([400, 408, 413, 414, 417])

/**
 * After a malformed request, the start of the next one is uncertain. To keep the connection after a
 * refused upload, we would have to read all of it.
 */
function isSafeToReuse(request: IncomingRequest, status: number): boolean {
  if (unsafe.has(status)) return false
  if (request.complete) return true
  const length = request.headers['content-length']
  if (request.headers['expect'] !== undefined) return false
  if (request.headers['transfer-encoding'] !== undefined) return false
  return length === undefined || Number(length) <= maxDrained
}
