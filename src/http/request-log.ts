import type { IncomingMessage, ServerResponse } from 'node:http'
import { Fault, Refusal } from '../errors.ts'
import type { Notes } from '../gateway/stages.ts'
import type { Log } from '../log.ts'

export interface Ended {
  readonly request: IncomingMessage
  readonly reply: ServerResponse
  readonly notes: Notes
  readonly error: unknown
  readonly startedAt: number
}

/**
 * The one line per request, at its end, with the true outcome behind an HTTP 200. It has the
 * canonical path and never the query: that is where a token may stand.
 */
export function logRequest(log: Log, { request, reply, notes, error, startedAt }: Ended): void {
  const line = {
    requestId: notes.requestId,
    method: request.method,
    path: notes.path,
    // What operators know from other proxies for a client that did not wait.
    status: notes.cut === 'client' && !reply.headersSent ? 499 : reply.statusCode,
    ms: Math.round((performance.now() - startedAt) * 10) / 10,
    caller: notes.caller?.userId,
    role: notes.caller?.roleKey,
    carrier: notes.carrier,
    step: notes.decision?.step,
    revision: notes.decision?.revision,
    upstream: notes.upstream,
  }

  if (error === undefined) {
    log.requests.info(
      { ...line, outcome: notes.cut === undefined ? 'passed' : `cut-by-${notes.cut}` },
      'request',
    )
  } else if (error instanceof Refusal) {
    log.requests.info({ ...line, outcome: error.kind, reason: error.detail.reason }, 'request')
  } else if (error instanceof Fault) {
    log.requests.error({ ...line, outcome: error.part, reason: causeText(error) }, 'request')
  } else log.requests.error({ ...line, outcome: 'bug', err: error }, 'request')
}

function causeText({ message, cause }: Fault): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message
}
