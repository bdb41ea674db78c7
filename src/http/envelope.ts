import type { FaultPart, RefusalKind } from '../kernel/errors.ts'
import type { MessageKind } from '../messages/texts.ts'

/** What a client sees of a refusal or a fault, besides the text. */
export interface Envelope {
  readonly status: number
  readonly code: number
  readonly message: MessageKind
  /** Specification, Errors: the body has exactly `code` and `msg`. Others have the request ID too. */
  readonly isBare: boolean
  /** The WWW-Authenticate header: a real 401 must have one (RFC 9110 15.5.2). */
  readonly challenge?: string
}

export type RefusalEnvelopes = Readonly<Record<RefusalKind, Envelope>>

/** `code` in the body of a refusal with HTTP 200 (specification, Errors), or the real status. */
type Form = { readonly code: number } | { readonly status: number }

/** `notPermittedCode` is 401 in the specification; with 403, existing front ends do not log the user out. */
function refusalForms(notPermittedCode: number): Readonly<Record<RefusalKind, Form>> {
  return {
    'token-missing': { code: 401 },
    'token-invalid': { code: 401 },
    'token-expired': { code: 401 },
    'token-too-long-lived': { code: 401 },
    'token-revoked': { code: 401 },
    'cross-site-cookie': { code: 401 },
    'origin-not-allowed': { status: 403 },
    'address-not-allowed': { status: 403 },
    'not-permitted': { code: notPermittedCode },
    'too-many-requests': { code: 429 },
    'bad-login-request': { code: 400 },
    'wrong-captcha': { code: 400 },
    'wrong-credentials': { code: 400 },
    'no-such-provider': { code: 400 },
    'login-expired': { code: 400 },
    'provider-refused': { code: 400 },
    'no-account': { code: 403 },
    'account-disabled': { code: 403 },
    'no-role': { code: 403 },
    // A code of its own: front ends show another field, and texts differ by language.
    'otp-needed': { code: 428 },
    'wrong-otp': { code: 400 },
    'otp-not-enrolled': { code: 403 },
    'bad-logout-token': { status: 400 },
    'bad-password-request': { code: 400 },
    'wrong-password': { code: 400 },
    'no-password': { code: 403 },
    'password-length': { code: 400 },
    'password-text': { code: 400 },
    'password-common': { code: 400 },
    'password-name': { code: 400 },
    'password-unchanged': { code: 400 },
    'no-profile': { code: 403 },
    'confirmation-needed': { status: 403 },
    'ambiguous-path': { status: 400 },
    'target-too-long': { status: 414 },
    'bad-request': { status: 400 },
    'no-such-host': { status: 404 },
    misdirected: { status: 421 },
    'no-such-endpoint': { status: 404 },
    'no-such-route': { status: 404 },
    'method-not-allowed': { status: 405 },
    'expectation-failed': { status: 417 },
    'body-too-large': { status: 413 },
    'body-too-slow': { status: 408 },
    'unexpected-body': { status: 400 },
  }
}

interface RefusalSettings {
  readonly status: 'envelope' | 'real'
  readonly notPermittedCode: number
}

/** The response to each refusal. Only this file knows that most are HTTP 200 unless `status` is real. */
export function refusalEnvelopes(settings: RefusalSettings): RefusalEnvelopes {
  return mapForms(refusalForms(settings.notPermittedCode), (message, form) => {
    if ('status' in form) return inStatus(form.status, message)
    const envelope = { status: 200, code: form.code, message, isBare: true }
    return settings.status === 'real'
      ? { ...envelope, ...realStatus(message, form.code) }
      : envelope
  })
}

/**
 * The body is the same, and so is `code`. Failed logins are 400, as in RFC 6749 5.2: a 401 would have to
 * name a challenge, which a login form cannot answer, and front ends take it for an expired session.
 */
function realStatus(kind: RefusalKind, code: number): Pick<Envelope, 'status' | 'challenge'> {
  const challenge = challenges[kind]
  if (challenge !== undefined) return { status: 401, challenge }
  return { status: code === 401 ? 403 : code }
}

const realm = 'Bearer realm="postern"'
const invalidToken = (description: string) =>
  `${realm}, error="invalid_token", error_description="${description}"`

/** RFC 6750 3.1: a request without a token gets no error code. Each text is for programs, in English. */
const challenges: Readonly<Partial<Record<RefusalKind, string>>> = {
  'token-missing': realm,
  'token-invalid': invalidToken('The access token is invalid'),
  'token-expired': invalidToken('The access token expired'),
  'token-too-long-lived': invalidToken('The lifetime of the access token is too long'),
  'token-revoked': invalidToken('The access token is revoked'),
}

/**
 * Forward-auth proxies read the status, not `code`: 401 without a login, 403 without permission.
 */
export const statusEnvelopes: RefusalEnvelopes = {
  ...mapForms(refusalForms(403), (message, form) =>
    inStatus('code' in form ? form.code : form.status, message),
  ),
  // Logging in again would not change which site made the request.
  'cross-site-cookie': inStatus(403, 'cross-site'),
}

/** Faults have a real status and never `code` 401: an outage must not send users to the login page. */
const faultStatuses: Readonly<Record<FaultPart, number>> = {
  port: 503,
  overloaded: 503,
  workers: 503,
  configuration: 503,
  gateway: 503,
  redis: 503,
  database: 503,
  policies: 503,
  revocations: 503,
  'password-check': 503,
  certificate: 503,
  keys: 503,
  issuer: 503,
  'identity-provider': 503,
  directory: 503,
  'login-module': 503,
  'second-factor': 503,
  clock: 503,
  'upstream-unreachable': 502,
  'upstream-untrusted': 502,
  'upstream-broken': 502,
  'upstream-timeout': 504,
  'upstream-busy': 503,
  'upstream-share': 503,
  'upstream-failing': 503,
}

export const faultEnvelopes: Readonly<Record<FaultPart, Envelope>> = mapForms(
  faultStatuses,
  (message, status) => inStatus(status, message),
)

/** For our own bugs. */
export const bugEnvelope: Envelope = inStatus(500, 'bug')

function inStatus(status: number, message: MessageKind): Envelope {
  const envelope = { status, code: status, message, isBare: false }
  return status === 401 ? { ...envelope, challenge: 'Bearer' } : envelope
}

function mapForms<Kind extends MessageKind, Value>(
  forms: Readonly<Record<Kind, Value>>,
  map: (kind: Kind, value: Value) => Envelope,
): Readonly<Record<Kind, Envelope>> {
  const kinds = Object.keys(forms) as Kind[]
  return Object.fromEntries(kinds.map((kind) => [kind, map(kind, forms[kind])])) as Record<
    Kind,
    Envelope
  >
}
