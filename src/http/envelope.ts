import type { FaultPart, RefusalKind } from '../errors.ts'
import { passwordRules } from '../login/passwords/password-rules.ts'

/** What a client sees of a refusal or a fault. */
export interface Envelope {
  readonly status: number
  readonly code: number
  readonly msg: string
}

export type RefusalEnvelopes = Readonly<Record<RefusalKind, Envelope>>

/**
 * The response to each refusal. Only this function knows that most are HTTP 200 (specification, Errors).
 * `notPermittedCode` is 401 in the specification; with 403, existing front ends of the product family
 * do not log the user out.
 */
export function refusalEnvelopes(notPermittedCode: number): RefusalEnvelopes {
  return {
    'token-missing': inBody(401, 'please log in'),
    'token-invalid': inBody(401, 'please log in again'),
    'token-expired': inBody(401, 'please log in again'),
    'token-too-long-lived': inBody(401, 'please log in again'),
    'token-revoked': inBody(401, 'please log in again'),
    'cross-site-cookie': inBody(401, 'please log in again'),
    'origin-not-allowed': inStatus(403, 'this origin may not call'),
    'not-permitted': inBody(notPermittedCode, 'you have no permission for this operation'),
    'too-many-requests': inBody(429, 'too many requests, try again later'),
    'bad-login-request': inBody(400, 'username, password, uuid and code are needed, as JSON'),
    'wrong-captcha': inBody(400, 'wrong captcha'),
    'wrong-credentials': inBody(400, 'incorrect username or password'),
    'no-such-provider': inBody(400, 'no such login provider'),
    'login-expired': inBody(400, 'this login is no longer valid, start again'),
    'provider-refused': inBody(400, 'the identity provider did not confirm the login'),
    'no-account': inBody(403, 'you have no account here, ask an administrator'),
    'account-disabled': inBody(403, 'your account is disabled, ask an administrator'),
    'no-role': inBody(403, 'none of your groups has a role here, ask an administrator'),
    'otp-needed': inBody(400, 'a one-time code is needed'),
    'wrong-otp': inBody(400, 'wrong one-time code'),
    'otp-not-enrolled': inBody(403, 'your role needs one-time codes, ask an administrator'),
    'bad-logout-token': inStatus(400, 'the logout token is not valid'),
    'bad-password-request': inBody(400, 'oldPassword and newPassword are needed, as JSON'),
    'wrong-password': inBody(400, 'the old password is wrong'),
    'no-password': inBody(403, 'only users who log in here have a password'),
    'password-length': inBody(400, passwordRules['password-length']),
    'password-text': inBody(400, passwordRules['password-text']),
    'password-common': inBody(400, passwordRules['password-common']),
    'password-name': inBody(400, passwordRules['password-name']),
    'password-unchanged': inBody(400, passwordRules['password-unchanged']),
    'no-profile': inBody(403, 'only users with an account here have a profile'),
    'ambiguous-path': inStatus(400, 'the path can be read in more than one way'),
    'target-too-long': inStatus(414, 'the address is too long'),
    'bad-request': inStatus(400, 'malformed request'),
    'no-such-endpoint': inStatus(404, 'not found'),
    'no-such-route': inStatus(404, 'not found'),
    'method-not-allowed': inStatus(405, 'method not allowed'),
    'expectation-failed': inStatus(417, 'expectation not supported'),
    'body-too-large': inStatus(413, 'the body is too large'),
    'body-too-slow': inStatus(408, 'the body came too slowly'),
    'unexpected-body': inStatus(400, 'this method takes no body here'),
  }
}

/**
 * Forward-auth proxies read the status, not `code`: 401 without a login, 403 without permission.
 */
export const statusEnvelopes: RefusalEnvelopes = withRealStatus(refusalEnvelopes(403))

/** Faults have a real status and never `code` 401: an outage must not send users to the login page. */
export const faultEnvelopes: Readonly<Record<FaultPart, Envelope>> = {
  port: inStatus(503, 'temporarily unavailable'),
  overloaded: inStatus(503, 'too much to do, try again later'),
  workers: inStatus(503, 'temporarily unavailable'),
  redis: inStatus(503, 'temporarily unavailable, try again later'),
  database: inStatus(503, 'temporarily unavailable'),
  policies: inStatus(503, 'temporarily unavailable'),
  revocations: inStatus(503, 'temporarily unavailable'),
  'password-check': inStatus(503, 'temporarily unavailable'),
  certificate: inStatus(503, 'temporarily unavailable'),
  keys: inStatus(503, 'temporarily unavailable'),
  issuer: inStatus(503, 'temporarily unavailable, try again later'),
  'identity-provider': inStatus(503, 'the identity provider is not available, try again later'),
  directory: inStatus(503, 'the directory is not available, try again later'),
  'login-module': inStatus(503, 'this login is not available, try again later'),
  'second-factor': inStatus(503, 'one-time codes cannot be checked, try again later'),
  clock: inStatus(503, 'temporarily unavailable'),
  'upstream-unreachable': inStatus(502, 'the service cannot be reached'),
  'upstream-untrusted': inStatus(502, 'the service cannot be reached'),
  'upstream-broken': inStatus(502, 'the service gave no usable answer'),
  'upstream-timeout': inStatus(504, 'the service did not answer in time'),
  'upstream-busy': inStatus(503, 'the service is busy'),
  'upstream-share': inStatus(503, 'too many requests at a time, try again later'),
  'upstream-failing': inStatus(503, 'the service is not available'),
}

/** For our own bugs: no detail leaves the process. */
export const bugEnvelope: Envelope = inStatus(500, 'internal error')

function inBody(code: number, msg: string): Envelope {
  return { status: 200, code, msg }
}

function inStatus(status: number, msg: string): Envelope {
  return { status, code: status, msg }
}

function withRealStatus(envelopes: RefusalEnvelopes): RefusalEnvelopes {
  const real = Object.entries(envelopes).map(([kind, { code, msg }]) => [kind, inStatus(code, msg)])
  // Logging in again would not change which site made the request.
  const crossSite = inStatus(403, 'not from another site')
  return { ...(Object.fromEntries(real) as RefusalEnvelopes), 'cross-site-cookie': crossSite }
}
