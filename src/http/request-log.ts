import { member, plainMember } from '../json-line.ts'
import type { Log } from '../log.ts'
import type { EndedRequest } from './ended-request.ts'

/**
 * The one line per request, at its end. It has the canonical path and never the query: that is
 * where a token may stand. Plain are the texts of our own making, and canonical paths.
 */
export function logRequest(log: Log, ended: EndedRequest): void {
  const { method, status, startedAt, endedAt, notes, outcome, error, reason } = ended
  const level = error === undefined ? 'info' : 'error'
  if (!log.requests.isWritten(level)) return
  const { caller, decision } = notes
  log.requests.write(
    level,
    plainMember('requestId', notes.requestId) +
      // The names by which log systems find the trace of a line.
      plainMember('trace_id', notes.trace?.traceId) +
      plainMember('span_id', notes.trace?.spanId) +
      member('method', method) +
      plainMember('path', notes.path) +
      member('sentPath', notes.sentPath) +
      member('client', notes.address) +
      member('contract', notes.contract) +
      `,"status":${status},"ms":${Math.round((endedAt - startedAt) * 10) / 10}` +
      member('caller', caller?.userId) +
      member('role', caller?.roleKey) +
      plainMember('carrier', notes.carrier) +
      plainMember('step', decision?.step) +
      plainMember('revision', decision?.revision) +
      plainMember('upstream', notes.upstream) +
      (notes.retries === undefined ? '' : `,"retries":${notes.retries}`) +
      plainMember('ended', notes.ended) +
      plainMember('outcome', outcome) +
      member('reason', error === undefined || reason === undefined ? reason : log.clean(reason)) +
      (outcome === 'bug' && error !== undefined ? `,"err":${log.errorJson(error)}` : '') +
      ',"msg":"request"',
  )
}
