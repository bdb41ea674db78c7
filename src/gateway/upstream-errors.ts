import type { Dispatcher } from 'undici'
import { Fault } from '../errors.ts'
import { isCertificateProblem } from './certificate-problems.ts'
import { hadAnswer } from './resets.ts'

/* What an error on the way to a target means, by its code: for the client, and for a second try. */

const timeouts = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
])

const unreachable = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

/** On a connection that was there. */
const cut = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

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
export function mayRepeat({ method, body }: Dispatcher.DispatchOptions): boolean {
  return body === null && repeatable.has(method)
}

/** Whether the connection broke, as opposed to never having been made. */
export function isCut(error: Error): boolean {
  return cut.has(codeOf(error))
}

/** Whether there was no byte of an answer, and none can come: no connection, or it is gone. */
export function isUnheard(error: Error): boolean {
  const code = codeOf(error)
  if (hadAnswer(error)) return false
  if (isCut(error) || unreachable.has(code) || isCertificateProblem(code)) return true
  return code === 'UND_ERR_CONNECT_TIMEOUT'
}
