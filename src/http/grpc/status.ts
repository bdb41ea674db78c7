import { Fault, type FaultPart, Refusal, type RefusalKind } from '../../kernel/errors.ts'

/** The canonical status codes of gRPC that Postern sends. */
const codes = {
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const

type GrpcStatus = keyof typeof codes

/**
 * Clients log in again after `unauthenticated` and repeat a call after `unavailable`, so only what a
 * login or another attempt cures has these.
 */
export const refusalStatuses: Readonly<Record<RefusalKind, GrpcStatus>> = {
  'token-missing': 'unauthenticated',
  'token-invalid': 'unauthenticated',
  'token-expired': 'unauthenticated',
  'token-too-long-lived': 'unauthenticated',
  'token-revoked': 'unauthenticated',
  'cross-site-cookie': 'permissionDenied',
  'origin-not-allowed': 'permissionDenied',
  'address-not-allowed': 'permissionDenied',
  'not-permitted': 'permissionDenied',
  'too-many-requests': 'resourceExhausted',
  'bad-login-request': 'invalidArgument',
  'wrong-captcha': 'invalidArgument',
  'wrong-credentials': 'unauthenticated',
  'no-such-provider': 'invalidArgument',
  'login-expired': 'unauthenticated',
  'provider-refused': 'unauthenticated',
  'no-account': 'permissionDenied',
  'account-disabled': 'permissionDenied',
  'no-role': 'permissionDenied',
  'otp-needed': 'failedPrecondition',
  'wrong-otp': 'unauthenticated',
  'otp-not-enrolled': 'permissionDenied',
  'bad-logout-token': 'invalidArgument',
  'bad-password-request': 'invalidArgument',
  'wrong-password': 'invalidArgument',
  'no-password': 'permissionDenied',
  'password-length': 'invalidArgument',
  'password-text': 'invalidArgument',
  'password-common': 'invalidArgument',
  'password-name': 'invalidArgument',
  'password-unchanged': 'invalidArgument',
  'no-profile': 'permissionDenied',
  'confirmation-needed': 'permissionDenied',
  'ambiguous-path': 'invalidArgument',
  'target-too-long': 'invalidArgument',
  'bad-request': 'invalidArgument',
  'no-such-host': 'unimplemented',
  misdirected: 'unimplemented',
  'no-such-endpoint': 'unimplemented',
  'no-such-route': 'unimplemented',
  'method-not-allowed': 'unimplemented',
  'expectation-failed': 'invalidArgument',
  'body-too-large': 'resourceExhausted',
  'body-too-slow': 'deadlineExceeded',
  'unexpected-body': 'invalidArgument',
}

export const faultStatuses: Readonly<Record<FaultPart, GrpcStatus>> = {
  port: 'unavailable',
  overloaded: 'unavailable',
  workers: 'unavailable',
  configuration: 'unavailable',
  gateway: 'unavailable',
  redis: 'unavailable',
  database: 'unavailable',
  policies: 'unavailable',
  revocations: 'unavailable',
  'password-check': 'unavailable',
  certificate: 'unavailable',
  keys: 'unavailable',
  issuer: 'unavailable',
  'identity-provider': 'unavailable',
  directory: 'unavailable',
  'login-module': 'unavailable',
  'second-factor': 'unavailable',
  clock: 'unavailable',
  'upstream-unreachable': 'unavailable',
  'upstream-untrusted': 'unavailable',
  'upstream-broken': 'unavailable',
  'upstream-timeout': 'deadlineExceeded',
  'upstream-busy': 'unavailable',
  'upstream-share': 'unavailable',
  'upstream-failing': 'unavailable',
}

export function codeOf(status: GrpcStatus): number {
  return codes[status]
}

/** The code for a thrown error; `internal` for our own bugs. */
export function codeOfError(error: unknown): number {
  if (error instanceof Refusal) return codes[refusalStatuses[error.kind]]
  return error instanceof Fault ? codes[faultStatuses[error.part]] : codes.internal
}
