import type { FaultPart, RefusalKind } from './refusals.ts'
import { UntracedError } from './untraced-error.ts'

export type { FaultPart, RefusalKind }

/** Details of a refusal for the log. Never a token, a password or a captcha text. */
export interface RefusalDetail {
  readonly reason?: string
  readonly retryAfterSeconds?: number
  /** The rate limit: requests per window. */
  readonly limit?: number
  /** The RateLimit headers of the IETF's draft. */
  readonly rateLimit?: readonly string[]
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
