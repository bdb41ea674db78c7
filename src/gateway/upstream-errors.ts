import { Fault } from '../errors.ts'
import type { WireRequest } from '../wire/request-head.ts'
import { WireError } from '../wire/wire-error.ts'
import { isCertificateProblem } from './certificate-problems.ts'

/* What an error on the way to a target means, by its code: for the client, and for a second try. */

const timeouts = new Set(['connect-timeout', 'answer-timeout', 'body-timeout', 'ETIMEDOUT'])

const unreachable = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

/** On a connection that was there. */
const cut = new Set(['ECONNRESET', 'EPIPE', 'closed'])

/** RFC 9110 9.2.2, and no body, which could only be sent once. */
const repeatable = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

function codeOf(error: Error): string {
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
      reason: `its certificate is no good (${code})`,
    })
  }
  if (unreachable.has(code)) return new Fault('upstream-unreachable', { cause })
  return new Fault('upstream-broken', { cause })
}

/** Whether a request may be sent twice: its method allows that, and nothing of it is used up. */
export function mayRepeat({ method, upload }: WireRequest): boolean {
  return upload === undefined && repeatable.has(method)
}

/** Whether the connection broke, as opposed to never having been made. */
export function isCut(error: Error): boolean {
  return cut.has(codeOf(error))
}

/** Whether no answer can come after this, and nothing of one has: there was no connection, or it is gone. */
export function isUnheard(error: Error): boolean {
  if (!(error instanceof WireError) || error.heard) return false
  const { code } = error
  if (isCut(error) || unreachable.has(code) || isCertificateProblem(code)) return true
  return code === 'connect-timeout'
}
