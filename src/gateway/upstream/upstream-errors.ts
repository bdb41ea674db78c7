import { Fault } from '../../errors.ts'
import { mayRepeat } from '../../wire/repeatable.ts'
import type { WireRequest } from '../../wire/request-head.ts'
import { WireError } from '../../wire/wire-error.ts'
import { isCertificateProblem } from './certificate-problems.ts'

/* What an error on the way to a target means, by its code: for the client, and for a second try. */

const timeouts = new Set(['connect-timeout', 'response-timeout', 'body-timeout', 'ETIMEDOUT'])

const unreachable = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH'])

/** What the lookup of a name fails with. */
const lookupProblem = /^(?:ENOTFOUND|EAI_[A-Z]+)$/

/** On a connection that was there. */
const cut = new Set(['ECONNRESET', 'EPIPE', 'closed'])

/** These would fail everywhere. */
const final = new Set(['unsendable', 'destroyed'])

/** Of the operating system, or of `WireError`. */
export function codeOf(error: Error): string {
  return String((error as NodeJS.ErrnoException).code)
}

/** The Fault that a client is told of when a target failed its request. */
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

/** Nothing if it may not: after a timeout, or a byte of the response, the target may be at work on it. */
export function repeatOf(request: WireRequest, error: Error): Repeat | undefined {
  if (!(error instanceof WireError) || error.heard || final.has(error.code)) return undefined
  if (!error.sent) return 'unsent'
  if (!mayRepeat(request) || !isCut(error)) return undefined
  return error.reused ? 'stale' : 'lost'
}

/** Whether the connection broke, as opposed to never having been made. */
export function isCut(error: Error): boolean {
  return cut.has(codeOf(error))
}

/** Whether there never was a connection: the target refused it, is not there, or is not the right one. */
export function isUnreachable(error: Error): boolean {
  return error instanceof WireError && !error.sent && !isCut(error) && !final.has(error.code)
}

/** Whether a target closed a connection that was idle, which says nothing about its health. */
export function isStale(error: Error): boolean {
  return error instanceof WireError && error.reused && !error.heard && isCut(error)
}
