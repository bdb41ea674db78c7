import type { Arrival } from '../gateway/arrival/arrival.ts'
import type { Reply } from '../gateway/reply.ts'
import { Fault, Refusal, type RefusalDetail } from '../kernel/errors.ts'
import type { Message, Messages } from '../messages/messages.ts'
import type { IncomingRequest } from './connections/incoming-request.ts'
import {
  basicChallenge,
  bugEnvelope,
  type Envelope,
  faultEnvelopes,
  isAboutToken,
  type RefusalEnvelopes,
} from './envelope.ts'
import { type PreparedJson, prepareJson, sendJson } from './json-reply.ts'

export type ReplyError = (
  error: unknown,
  to: {
    readonly request: IncomingRequest
    readonly reply: Reply
    readonly requestId: string | undefined
    /** Absent for a request that never enters the pipeline. */
    readonly arrival?: Arrival
  },
) => void

interface ErrorResponse {
  readonly envelope: Envelope
  readonly message: Message
  readonly json: PreparedJson
  readonly extra: readonly string[]
}

/** The response to an error, in the language that the headers ask for. */
export type FindErrorResponse = (
  error: unknown,
  rawHeaders: readonly string[],
  requestId: string | undefined,
) => ErrorResponse

export function createErrorResponses(
  refusals: RefusalEnvelopes,
  messages: Messages,
): FindErrorResponse {
  // By message, which differs for each kind and language: a flood of refusals builds no text.
  const prepared = new Map<object, PreparedJson>()

  function prepare({ code, isBare, challenge }: Envelope, message: Message, requestId?: string) {
    const { text: msg, headers } = message
    const challenges = challenge === undefined ? [] : ['WWW-Authenticate', challenge]
    const body = isBare ? { code, msg } : { code, msg, requestId }
    return prepareJson(body, [...headers, ...challenges])
  }

  function findBare(envelope: Envelope, message: Message): PreparedJson {
    const known = prepared.get(message)
    if (known !== undefined) return known
    const made = prepare(envelope, message)
    prepared.set(message, made)
    return made
  }

  return (error, rawHeaders, requestId) => {
    const envelope = envelopeOf(error, refusals)
    const message = messages.chosenBy(rawHeaders)[envelope.message]
    const json = envelope.isBare
      ? findBare(envelope, message)
      : prepare(envelope, message, requestId)
    return { envelope, message, json, extra: extraHeaders(error) }
  }
}

/** The writer of refusals and faults to clients that read JSON. */
export function createErrorReplies(find: FindErrorResponse): ReplyError {
  return (error, { request, reply, requestId, arrival }) => {
    if (reply.headersSent) {
      reply.destroy()
      return
    }
    const { envelope, json, extra } = find(error, request.rawHeaders, requestId)
    keepOrClose(request, reply, envelope)
    if (arrival?.notes.takesBasic && isAboutToken(error)) {
      sendJson(reply, 401, json, [...extra, ...basicChallenge])
    } else sendJson(reply, envelope.status, json, extra)
  }
}

/** Before the head of the response to an error is written. */
export function keepOrClose(
  request: IncomingRequest,
  reply: Reply,
  envelope: Pick<Envelope, 'status'> & { readonly isBare?: boolean },
): void {
  if (!isSafeToReuse(request, envelope)) reply.shouldKeepAlive = false
}

/** The only mapping from a thrown error to a response. */
export function envelopeOf(error: unknown, refusals: RefusalEnvelopes): Envelope {
  if (error instanceof Refusal) return refusals[error.kind]
  return error instanceof Fault ? faultEnvelopes[error.part] : bugEnvelope
}

/** These pass as soon as there are fewer concurrent requests. */
const retriedSoon: ReadonlySet<string> = new Set(['overloaded', 'upstream-share'])

export function extraHeaders(error: unknown): readonly string[] {
  if (error instanceof Refusal) return detailHeaders(error.detail)
  return error instanceof Fault && retriedSoon.has(error.part) ? ['Retry-After', '1'] : []
}

function detailHeaders({
  retryAfterSeconds,
  limit,
  rateLimit = [],
  allow,
  location,
}: RefusalDetail): readonly string[] {
  return [
    ...(retryAfterSeconds === undefined ? [] : ['Retry-After', String(retryAfterSeconds)]),
    ...(limit === undefined
      ? []
      : ['X-RateLimit-Limit', String(limit), 'X-RateLimit-Remaining', '0']),
    ...rateLimit,
    ...(allow === undefined ? [] : ['Allow', allow]),
    ...(location === undefined ? [] : ['Location', location]),
  ]
}

/** A body up to this size is read and discarded; a larger one closes the connection. */
const maxDrained = 65_536

const unsafe: ReadonlySet<number> = new Set([400, 408, 413, 414, 417])

/**
 * After a malformed request, the start of the next one is uncertain. To keep the connection after a
 * refused upload, we would have to read all of it.
 */
function isSafeToReuse(
  request: IncomingRequest,
  { status, isBare = false }: Parameters<typeof keepOrClose>[2],
): boolean {
  // Only the stream ends.
  if (request.httpVersion === '2') return true
  if (!isBare && unsafe.has(status)) return false
  if (request.complete || !('headers' in request)) return true
  const length = request.headers['content-length']
  if (request.headers['expect'] !== undefined) return false
  if (request.headers['transfer-encoding'] !== undefined) return false
  return length === undefined || Number(length) <= maxDrained
}
