/** Every reason for which Postern itself says no. `http/envelope.ts` has an answer for each. */
export type RefusalKind =
  | 'token-missing'
  | 'token-invalid'
  | 'token-expired'
  | 'token-too-long-lived'
  | 'token-revoked'
  | 'cross-site-cookie'
  | 'origin-not-allowed'
  | 'not-permitted'
  | 'ambiguous-path'
  | 'target-too-long'
  | 'bad-request'
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

/** What a log line may say about a refusal. Never a token, a password or a captcha text. */
export interface RefusalDetail {
  readonly reason?: string
  readonly retryAfterSeconds?: number
  /** How many requests there would have been room for. */
  readonly limit?: number
  /** The methods that would have been answered, for the Allow header. */
  readonly allow?: string
}

/** We said no, and meant it. The kind reaches the client as an answer, the detail only the log. */
export class Refusal extends Error {
  readonly kind: RefusalKind
  readonly detail: RefusalDetail

  constructor(kind: RefusalKind, detail: RefusalDetail = {}) {
    super(kind)
    this.name = 'Refusal'
    this.kind = kind
    this.detail = detail
  }
}

/** The parts that can break under a request that did nothing wrong. */
export type FaultPart =
  | 'port'
  | 'overloaded'
  | 'workers'
  | 'redis'
  | 'database'
  | 'policies'
  | 'revocations'
  | 'password-check'
  | 'keys'
  | 'certificate'
  | 'clock'
  | 'upstream-unreachable'
  | 'upstream-untrusted'
  | 'upstream-broken'
  | 'upstream-timeout'
  | 'upstream-busy'
  | 'upstream-share'
  | 'upstream-failing'

/** Something is broken. Never answered with `code` 401: nobody logs in again because a store is down. */
export class Fault extends Error {
  readonly part: FaultPart

  constructor(part: FaultPart, options?: { readonly cause?: unknown; readonly reason?: string }) {
    super(options?.reason ?? part, options?.cause === undefined ? {} : { cause: options.cause })
    this.name = 'Fault'
    this.part = part
  }
}

/** One thing wrong with something a person wrote, and where. */
export interface Problem {
  readonly file: string
  readonly line?: number
  readonly column?: number
  readonly message: string
}

/** What a person wrote cannot be used. Carries every problem found, not only the first. */
export class Invalid extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'))
    this.name = 'Invalid'
    this.problems = problems
  }
}

/** `file:line:column: message`, the form that editors and CI annotate. */
export function formatProblem({ file, line, column, message }: Problem): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(':')
  return `${place}: ${message}`
}
