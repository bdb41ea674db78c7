import type { Notes } from '../gateway/arrival/notes.ts'
import type { Reply } from '../gateway/reply.ts'
import { Fault, Refusal } from '../kernel/errors.ts'
import type { IncomingRequest } from './connections/incoming-request.ts'
import { faultEnvelopes, statusEnvelopes } from './envelope.ts'

/** A finished request, with the true outcome behind an HTTP 200. */
export type EndedRequest = ReturnType<typeof endedRequest>

interface Ending {
  readonly request: IncomingRequest
  readonly reply: Reply
  readonly notes: Notes
  readonly error: unknown
  readonly startedAt: number
}

export function endedRequest({ request, reply, notes, error, startedAt }: Ending) {
  const fault = error === undefined || error instanceof Refusal ? undefined : asError(error)
  return {
    method: notes.method ?? request.method ?? '',
    // nginx's status for a request without a response.
    status:
      isUnanswered(notes) && !reply.headersSent ? 499 : (notes.shownStatus ?? reply.statusCode),
    // In `performance.now()` time.
    startedAt,
    endedAt: performance.now(),
    notes,
    /** `passed`, `cut-by-…`, the kind of a refusal, the part of a fault, or `bug`. */
    outcome: error === undefined ? passed(notes) : outcomeOf(error),
    /** The error, unless the client caused it. */
    error: fault,
    reason: error === undefined ? undefined : reasonOf(error),
  }
}

const cuts: Readonly<Record<NonNullable<Notes['cut']>, true>> = {
  client: true,
  upstream: true,
  token: true,
  policy: true,
  gateway: true,
}

function isUnanswered({ cut }: Notes): boolean {
  return cut === 'client' || cut === 'gateway'
}

/** Every outcome that a request can have. */
export const outcomes: readonly string[] = [
  'passed',
  ...Object.keys(cuts).map((cut) => `cut-by-${cut}`),
  ...Object.keys(statusEnvelopes),
  ...Object.keys(faultEnvelopes),
  'bug',
]

function passed({ cut }: Notes): string {
  return cut === undefined ? 'passed' : `cut-by-${cut}`
}

function outcomeOf(error: unknown): string {
  if (error instanceof Refusal) return error.kind
  return error instanceof Fault ? error.part : 'bug'
}

function reasonOf(error: unknown): string | undefined {
  if (error instanceof Refusal) return error.detail.reason
  return error instanceof Fault ? causeText(error) : undefined
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

function causeText({ message, cause }: Fault): string {
  // The messages of stores contain their cause already.
  if (!(cause instanceof Error) || message.endsWith(cause.message)) return message
  return `${message}: ${cause.message}`
}
