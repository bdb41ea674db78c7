import type { Log } from '../log.ts'
import type { EndedRequest } from './ended-request.ts'

/**
 * The one line per request, at its end. It has the canonical path and never the query: that is
 * where a token may stand.
 */
export function logRequest(log: Log, ended: EndedRequest): void {
  const { method, status, milliseconds, notes, outcome, error, reason } = ended
  const line = {
    requestId: notes.requestId,
    // The names by which log systems find the trace of a line.
    trace_id: notes.trace?.traceId,
    span_id: notes.trace?.spanId,
    method,
    path: notes.path,
    sentPath: notes.sentPath,
    client: notes.address,
    contract: notes.contract,
    status,
    ms: Math.round(milliseconds * 10) / 10,
    caller: notes.caller?.userId,
    role: notes.caller?.roleKey,
    carrier: notes.carrier,
    step: notes.decision?.step,
    revision: notes.decision?.revision,
    upstream: notes.upstream,
    retries: notes.retries,
    ended: notes.ended,
    outcome,
    reason,
    err: outcome === 'bug' ? error : undefined,
  }
  if (error === undefined) log.requests.info(line, 'request')
  else log.requests.error(line, 'request')
}
