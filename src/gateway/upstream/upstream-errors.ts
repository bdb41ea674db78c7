import { Fault } from '../../kernel/errors.ts'
import { mayRepeat } from '../../wire/repeatable.ts'
import type { WireRequest } from '../../wire/request-head.ts'
import { WireError } from '../../wire/wire-error.ts'
import { isCertificateProblem } from './certificate-problems.ts'

/* What the error of a request to a target means for the client, and for a retry. */

const timeouts = new Set(['connect-timeout', 'response-timeout', 'body-timeout', 'ETIMEDOUT'])

const unreachable = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH'])

const lookupProblem = /^(?:ENOTFOUND|EAI_[A-Z]+)$/

/** An established connection broke. */
const cut = new Set(['ECONNRESET', 'EPIPE', 'closed', 'refused-stream'])

/** These would fail on every target. */
const final = new Set(['unsendable', 'destroyed'])

/** A code of the operating system, or of `WireError`. */
export function codeOf(error: Error): string {
  return String((error as NodeJS.ErrnoException).code)
}

export function upstreamFault(cause: Error): Fault {
  if (cause instanceof Fault) return cause
  const code = codeOf(cause)
  if (timeouts.has(code)) return new Fault('upstream-timeout', { cause })
  if (isCertificateProblem(code)) {
    return new Fault('upstream-untrusted', {
      cause,
      reason: `certificate verification failed (${code})`,
    })
  }
  if (lookupProblem.test(code)) {
    return new Fault('upstream-unreachable', { cause, reason: `name lookup failed (${code})` })
  }
  if (unreachable.has(code)) return new Fault('upstream-unreachable', { cause })
  return new Fault('upstream-broken', { cause })
}

/**
 * Why a request that failed may be sent again:
 *
 *   unsent  no byte of it can have reached the target: safe for every method, and with a body
 *   stale   idempotent, and its connection had been idle: the target was closing it (RFC 9112 9.3.1)
 *   lost    idempotent, and a new connection broke before the first byte of the response
 */
type Repeat = 'unsent' | 'stale' | 'lost'

/** `undefined` after a timeout or a byte of the response: the target may be processing the request. */
export function repeatOf(request: WireRequest, error: Error): Repeat | undefined {
  if (!(error instanceof WireError) || error.heard || isFinal(error)) return undefined
  if (!error.sent) return 'unsent'
  if (!mayRepeat(request) || !isCut(error)) return undefined
  return error.reused ? 'stale' : 'lost'
}

/** Whether the connection broke, as opposed to never having been made. */
export function isCut(error: Error): boolean {
  return cut.has(codeOf(error))
}

/**
 * Whether the target broke off its response. A timeout does not count: an event stream without events
 * ends with one.
 */
export function isBroken(error: Error): boolean {
  return isCut(error) || codeOf(error) === 'malformed'
}

/** Whether a target failed a request that it got. Attempts to connect count by themselves. */
export function isFailure(error: Error): boolean {
  return error instanceof WireError && error.sent && !isStale(error) && !isFinal(error)
}

/** Whether every target would fail in the same way, which says nothing about one. */
function isFinal(error: Error): boolean {
  return error instanceof WireError && final.has(error.code)
}

/** Whether a target closed a connection that was idle, which says nothing about its health. */
export function isStale(error: Error): boolean {
  return error instanceof WireError && error.reused && !error.heard && isCut(error)
}

/** Whether its connection was closed before it was sent. A server that refuses a stream is overloaded instead. */
export function isFoundClosed(error: Error): boolean {
  const isRefused = codeOf(error) === 'refused-stream'
  return isStale(error) && !(error as WireError).sent && !isRefused
}
