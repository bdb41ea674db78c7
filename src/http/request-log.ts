import { member, plainMember } from '../log/json-line.ts'
import type { Log } from '../log/log.ts'
import type { EndedRequest } from './ended-request.ts'

/**
 * The only log line of a request, at its end. It has the canonical path and never the query, which may
 * contain a token. `plainMember` is for our own texts and canonical paths, which need no escaping.
 */
export function logRequest(log: Log, ended: EndedRequest): void {
  const { method, status, startedAt, endedAt, notes, error } = ended
  const level = error === undefined ? 'info' : 'error'
  if (!log.requests.isWritten(level)) return
  log.requests.write(
    level,
    plainMember('requestId', notes.requestId) +
      // The names by which log systems find the trace of a line.
      plainMember('trace_id', notes.trace?.traceId) +
      plainMember('span_id', notes.trace?.spanId) +
      member('method', method) +
      plainMember('host', notes.host) +
      plainMember('path', notes.path) +
      (notes.rawPath === undefined ? '' : member('rawPath', loggedPath(notes.rawPath))) +
      member('sentPath', notes.sentPath) +
      member('client', notes.address) +
      member('contract', notes.contract) +
      (isUnserved(notes) ? ',"route":"none"' : '') +
      `,"status":${status},"ms":${Math.round((endedAt - startedAt) * 10) / 10}` +
      endOf(log, ended),
  )
}

/** Whether no route serves it: the outcome `not-permitted` does not show that. */
function isUnserved({ route, contract }: EndedRequest['notes']): boolean {
  // Behind forward-auth, another proxy may serve it.
  return route === 'none' && contract === undefined
}

/** The end of a caller's last line, and the values it was built from. */
interface KnownEnd {
  readonly carrier: string | undefined
  readonly step: string | undefined
  readonly revision: string | undefined
  readonly upstream: string | undefined
  readonly outcome: string
  readonly text: string
}

/** By caller object, which all requests with the same token share. */
const knownEnds = new WeakMap<object, KnownEnd>()

/**
 * The members after `ms`. They are usually the same as in the caller's last line, and building them
 * again would be half of the cost of a line.
 */
function endOf(log: Log, ended: EndedRequest): string {
  const { notes, outcome, error, reason } = ended
  const { caller, carrier, decision, upstream, retries } = notes
  const isUsual =
    caller !== undefined &&
    error === undefined &&
    reason === undefined &&
    retries === undefined &&
    notes.revoked === undefined
  if (!isUsual) return writeEnd(log, ended)

  const known = knownEnds.get(caller)
  if (
    known !== undefined &&
    known.carrier === carrier &&
    known.step === decision?.step &&
    known.revision === decision?.revision &&
    known.upstream === upstream &&
    known.outcome === outcome
  ) {
    return known.text
  }
  // Through bytes: V8 would flatten a concatenated string again for each line.
  const text = Buffer.from(writeEnd(log, ended)).toString()
  const { step, revision } = decision ?? {}
  knownEnds.set(caller, { carrier, step, revision, upstream, outcome, text })
  return text
}

function writeEnd(log: Log, { notes, outcome, error, reason }: EndedRequest): string {
  const { caller, decision } = notes
  return (
    member('caller', caller?.userId) +
    member('role', caller?.roleKey) +
    plainMember('kind', notes.kind === 'user' ? undefined : notes.kind) +
    plainMember('carrier', notes.carrier) +
    plainMember('step', decision?.step) +
    plainMember('revision', decision?.revision) +
    plainMember('upstream', notes.upstream) +
    (notes.retries === undefined ? '' : `,"retries":${notes.retries}`) +
    plainMember('ended', notes.revoked) +
    plainMember('outcome', outcome) +
    member('reason', error === undefined || reason === undefined ? reason : log.clean(reason)) +
    (outcome === 'bug' && error !== undefined ? `,"err":${log.errorJson(error)}` : '') +
    ',"msg":"request"'
  )
}

/** Where a query begins for a server that decodes the path, however often. */
const queryStart = /[?#]|%(?:25)*(?:3f|23)/i
/** A JWT, with its dots escaped or not. */
const jwt = /eyJ[\w-]{5,}(?:(?:\.|%(?:25)*2e)[\w-]*)+/gi
const maxPathLength = 512

/** A path as a client sent it, without what may be a credential, for the log. */
function loggedPath(rawPath: string): string {
  const start = rawPath.search(queryStart)
  const path = (start === -1 ? rawPath : rawPath.slice(0, start)).replace(jwt, '[redacted]')
  return path.length > maxPathLength ? `${path.slice(0, maxPathLength)}…` : path
}
