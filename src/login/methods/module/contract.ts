/*
 * `postern/login`: the types for a login module of your own. A module is a file that exports
 * `verifyCredentials` and, as it needs them, `fields`, `name`, `captcha`, `countBy` and `secondFactor`.
 * See docs/login-module.md. This file imports nothing, so that its declarations are complete by themselves.
 */

/**
 * Decides whether the credentials in a request are right. Throw when you cannot decide, such as when
 * a service is down: the client gets 503, and the attempt does not count as a wrong guess.
 */
export type VerifyCredentials<
  Field extends string = string,
  OptionalField extends string = never,
> = (
  request: LoginRequest<Field, OptionalField>,
  tools: LoginTools,
) => Promise<LoginResult> | LoginResult

/** The declared fields as the client sent them: texts that are not empty. */
export type LoginRequest<
  Field extends string = string,
  OptionalField extends string = never,
> = Readonly<Record<Field, string>> & Readonly<Partial<Record<OptionalField, string>>>

/**
 * - `undefined`: the credentials are wrong. It counts as a failed login.
 * - `'otp-needed'`: the client must send a one-time code that you have just sent to the user.
 * - an object: the credentials are right, and this is the user.
 */
export type LoginResult = undefined | 'otp-needed' | ExistingAccount | ExternalUser

/** An account of Postern, by its name. */
export interface ExistingAccount {
  readonly username: string
}

/** A user of another system. Postern links an account to the subject. */
export interface ExternalUser {
  /** The ID of the user in the other system. It never changes and never passes to another user. */
  readonly subject: string
  /** The name of an account that is created or linked, if `login.moduleAccounts` allows it. */
  readonly username: string
  /** The key of the role that the account gets, now and at each later login. Absent: it keeps its own. */
  readonly role?: string | undefined
  readonly displayName?: string | undefined
  readonly email?: string | undefined
  /** What services may learn about the user, such as `groups`, by the names of `headers.claims`. */
  readonly claims?: Readonly<Record<string, string | readonly string[]>> | undefined
}

export interface LoginTools {
  /** Aborts when `login.moduleTimeoutMs` has passed. Give it to `fetch`. */
  readonly signal: AbortSignal
  /** Writes to the log of the gateway. */
  readonly log: LoginModuleLog
  /** The account of this name, enabled or not. */
  findAccount(username: string): Promise<FoundAccount | undefined>
  /** The address of the client. */
  readonly remoteAddress: string
}

export interface FoundAccount {
  readonly userId: string
  readonly username: string
  readonly roleKey: string
  readonly enabled: boolean
}

/** Values of the request, other than the one that `countBy` names, are masked. */
export interface LoginModuleLog {
  info(message: string, details?: LoginLogDetails): void
  warn(message: string, details?: LoginLogDetails): void
  error(message: string, details?: LoginLogDetails): void
}

export type LoginLogDetails = Readonly<Record<string, string | number | boolean | undefined>>

/** Every field that the module reads, by name. */
export type LoginFields = Readonly<Record<string, LoginField>>

export interface LoginField {
  /** Longer values are refused. Default: 256. */
  readonly maxBytes?: number
  /** Whether a request may lack it. Default: false. */
  readonly optional?: boolean
}

/** Everything that a module may export. */
export interface LoginModule {
  readonly verifyCredentials: VerifyCredentials
  readonly fields: LoginFields
  /** What a login sends as `provider`. Default: the name of the file without its extension. */
  readonly name?: string
  /** Whether the client must solve a captcha first. Default: true. */
  readonly captcha?: boolean
  /** The field that wrong guesses count against. Default: the first of `fields`. */
  readonly countBy?: string
  /** Whether accounts with one-time codes must send one. Default: true. */
  readonly secondFactor?: boolean
}
