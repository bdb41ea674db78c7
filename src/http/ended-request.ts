import type { IncomingMessage, ServerResponse } from 'node:http'
import { Fault, Refusal } from '../errors.ts'
import type { Notes } from '../gateway/stages.ts'

/** A request that is over, with the true outcome behind an HTTP 200. */
export interface EndedRequest {
  readonly method: string
  readonly status: number
  readonly milliseconds: number
  readonly notes: Notes
  /** `passed`, `cut-by-…`, the kind of a refusal, the part of a fault, or `bug`. */
  readonly outcome: string
  /** What went wrong, if it was not the client's doing. */
  readonly error: Error | undefined
  readonly reason: string | undefined
}

/** What came of a request, once nothing more will happen to it. */
export function endedRequest(
  request: IncomingMessage,
  reply: ServerResponse,
  { notes, error, startedAt }: { notes: Notes; error: unknown; startedAt: number },
): EndedRequest {
  return {
    method: notes.method ?? request.method ?? '',
    // What operators know from other proxies for a client that did not wait.
    status: notes.cut === 'client' && !reply.headersSent ? 499 : reply.statusCode,
    milliseconds: performance.now() - startedAt,
    notes,
    ...verdict(error, notes),
  }
}

function verdict(error: unknown, notes: Notes) {
  if (error === undefined) {
    const outcome = notes.cut === undefined ? 'passed' : `cut-by-${notes.cut}`
    return { outcome, error: undefined, reason: undefined }
  }
  if (error instanceof Refusal) {
    return { outcome: error.kind, error: undefined, reason: error.detail.reason }
  }
  if (error instanceof Fault) return { outcome: error.part, error, reason: causeText(error) }
  const bug = error instanceof Error ? error : new Error(String(error))
  return { outcome: 'bug', error: bug, reason: undefined }
}

function causeText({ message, cause }: Fault): string {
  // Those of stores say it themselves.
  if (!(cause instanceof Error) || message.endsWith(cause.message)) return message
  return `${message}: ${cause.message}`
}
