/** The canonical status codes of gRPC that Postern sends. */
export const grpcCodes = {
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

export type GrpcStatus = keyof typeof grpcCodes

/** `code` in the body of a refusal with HTTP 200 (specification, Errors), or the real status. */
export type RefusalForm = { readonly code: number } | { readonly status: number }

/**
 * Every reason for which Postern refuses a request, and what clients see of it. Clients of gRPC log in again after
 * `unauthenticated` and repeat a call after `unavailable`, so only what a login or another attempt cures has these.
 */
export const refusals = {
  'token-missing': { code: 401, grpc: 'unauthenticated' },
  'token-invalid': { code: 401, grpc: 'unauthenticated' },
  'token-expired': { code: 401, grpc: 'unauthenticated' },
  'token-too-long-lived': { code: 401, grpc: 'unauthenticated' },
  'token-revoked': { code: 401, grpc: 'unauthenticated' },
  'cross-site-cookie': { code: 401, grpc: 'permissionDenied' },
  'origin-not-allowed': { status: 403, grpc: 'permissionDenied' },
  'address-not-allowed': { status: 403, grpc: 'permissionDenied' },
  'not-permitted': { code: 403, grpc: 'permissionDenied' },
  'too-many-requests': { code: 429, grpc: 'resourceExhausted' },
  'bad-login-request': { code: 400, grpc: 'invalidArgument' },
  'wrong-captcha': { code: 400, grpc: 'invalidArgument' },
  'wrong-credentials': { code: 400, grpc: 'unauthenticated' },
  'no-such-provider': { code: 400, grpc: 'invalidArgument' },
  'login-expired': { code: 400, grpc: 'unauthenticated' },
  'provider-refused': { code: 400, grpc: 'unauthenticated' },
  'no-account': { code: 403, grpc: 'permissionDenied' },
  'account-disabled': { code: 403, grpc: 'permissionDenied' },
  'no-role': { code: 403, grpc: 'permissionDenied' },
  // A code of its own: front ends show another field, and texts differ by language.
  'otp-needed': { code: 428, grpc: 'failedPrecondition' },
  'wrong-otp': { code: 400, grpc: 'unauthenticated' },
  'otp-not-enrolled': { code: 403, grpc: 'permissionDenied' },
  'bad-logout-token': { status: 400, grpc: 'invalidArgument' },
  'bad-password-request': { code: 400, grpc: 'invalidArgument' },
  'wrong-password': { code: 400, grpc: 'invalidArgument' },
  'no-password': { code: 403, grpc: 'permissionDenied' },
  'password-length': { code: 400, grpc: 'invalidArgument' },
  'password-text': { code: 400, grpc: 'invalidArgument' },
  'password-common': { code: 400, grpc: 'invalidArgument' },
  'password-name': { code: 400, grpc: 'invalidArgument' },
  'password-unchanged': { code: 400, grpc: 'invalidArgument' },
  'no-profile': { code: 403, grpc: 'permissionDenied' },
  'confirmation-needed': { status: 403, grpc: 'permissionDenied' },
  'ambiguous-path': { status: 400, grpc: 'invalidArgument' },
  'target-too-long': { status: 414, grpc: 'invalidArgument' },
  'bad-request': { status: 400, grpc: 'invalidArgument' },
  'no-such-host': { status: 404, grpc: 'unimplemented' },
  misdirected: { status: 421, grpc: 'unimplemented' },
  'no-such-endpoint': { status: 404, grpc: 'unimplemented' },
  'no-such-route': { status: 404, grpc: 'unimplemented' },
  'method-not-allowed': { status: 405, grpc: 'unimplemented' },
  'expectation-failed': { status: 417, grpc: 'invalidArgument' },
  'body-too-large': { status: 413, grpc: 'resourceExhausted' },
  'body-too-slow': { status: 408, grpc: 'deadlineExceeded' },
  'unexpected-body': { status: 400, grpc: 'invalidArgument' },
} as const satisfies Readonly<Record<string, RefusalForm & { readonly grpc: GrpcStatus }>>

export type RefusalKind = keyof typeof refusals

/**
 * The components that can fail without any fault of the request, with a real status and never `code` 401: an outage
 * must not send users to the login page.
 */
export const faults = {
  port: 503,
  overloaded: 503,
  workers: 503,
  configuration: 503,
  /** A running gateway, for the commands that ask it. */
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
} as const

export type FaultPart = keyof typeof faults
