import { UntracedError } from './untraced-error.ts'

/** Every reason for which Postern refuses a request. `http/envelope.ts` has a response for each. */
export type RefusalKind =
  | 'token-missing'
  | 'token-invalid'
  | 'token-expired'
  | 'token-too-long-lived'
  | 'token-revoked'
  | 'cross-site-cookie'
  | 'origin-not-allowed'
  | 'address-not-allowed'
  | 'not-permitted'
  | 'ambiguous-path'
  | 'target-too-long'
  | 'bad-request'
  | 'no-such-host'
  | 'misdirected'
  | 'no-such-endpoint'
  | 'no-such-route'
  | 'method-not-allowed'
  | 'expectation-failed'
  | 'body-too-large'
  | 'unexpected-body'
  | 'body-too-slow'
  | 'too-many-requests'
  | 'bad-login-request'
  | 'wrong-captcha'
  | 'wrong-credentials'
  | 'no-such-provider'
  | 'login-expired'
  | 'provider-refused'
  | 'no-account'
  | 'account-disabled'
  | 'no-role'
  | 'otp-needed'
  | 'wrong-otp'
  | 'otp-not-enrolled'
  | 'bad-logout-token'
  | 'bad-password-request'
  | 'wrong-password'
  | 'no-password'
  | 'password-length'
  | 'password-text'
  | 'password-common'
  | 'password-name'
  | 'password-unchanged'
  | 'no-profile'
  | 'confirmation-needed'

/** Details of a refusal for the log. Never a token, a password or a captcha text. */
export interface RefusalDetail {
  readonly reason?: string
  readonly retryAfterSeconds?: number
  /** The rate limit: requests per window. */
  readonly limit?: number
  /** The methods that the path supports, for the Allow header. */
  readonly allow?: string
  /** Where a browser goes instead, for the Location header: forward-auth names the login page. */
  readonly location?: string
}

/** A deliberate no. The kind decides the response to the client; the detail goes to the log only. */
export class Refusal extends UntracedError {
  readonly kind: RefusalKind
  readonly detail: RefusalDetail

  constructor(kind: RefusalKind, detail: RefusalDetail = {}) {
    super(kind)
    this.name = 'Refusal'
    this.kind = kind
    this.detail = detail
  }
}

/** The components that can fail without any fault of the request. */
export type FaultPart =
  | 'port'
  | 'overloaded'
  | 'workers'
  | 'configuration'
  /** A running gateway, for the commands that ask it. */
  | 'gateway'
  | 'redis'
  | 'database'
  | 'policies'
  | 'revocations'
  | 'password-check'
  | 'keys'
  | 'issuer'
  | 'identity-provider'
  | 'directory'
  | 'login-module'
  | 'second-factor'
  | 'certificate'
  | 'clock'
  | 'upstream-unreachable'
  | 'upstream-untrusted'
  | 'upstream-broken'
  | 'upstream-timeout'
  | 'upstream-busy'
  | 'upstream-share'
  | 'upstream-failing'

/** A component failed. Never answered with `code` 401: an outage must not log users out. */
export class Fault extends UntracedError {
  readonly part: FaultPart

  constructor(part: FaultPart, options?: { readonly cause?: unknown; readonly reason?: string }) {
    super(options?.reason ?? part, options?.cause === undefined ? {} : { cause: options.cause })
    this.name = 'Fault'
    this.part = part
  }
}

/** One problem in a file or setting, with its place. */
export interface Problem {
  readonly file: string
  readonly line?: number
  readonly column?: number
  readonly message: string
  /** What to do, where the message does not say it. */
  readonly fix?: string
}

/** A file or setting is invalid. Carries every problem, not only the first. */
export class Invalid extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'))
    this.name = 'Invalid'
    this.problems = problems
  }
}

/** `file:line:column: message`, the format that editors and CI recognize. */
export function formatProblem({ fix, ...problem }: Problem): string {
  return fix === undefined ? withoutFix(problem) : `${withoutFix(problem)}; ${fix}`
}

/** Formats a problem without its advice, for a message that goes on with its own. */
export function withoutFix({ file, line, column, message }: Problem): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(':')
  return `${place}: ${message}`
}
