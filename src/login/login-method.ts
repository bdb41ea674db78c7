import type { Caller } from '../token/caller.ts'
import type { CarriedClaims } from '../token/carried-claims.ts'
import type { Fields } from './fields.ts'
import type { LoginAttempt } from './login-attempt.ts'

/**
 * A way to verify credentials, the one step of login in which methods differ (specification,
 * Authentication 7). Captcha, limits, second factor, token, session and login log are the same for all.
 */
export interface LoginMethod {
  /** What the field `provider` of a login says to choose it. */
  readonly name: string
  /** Whether a solved captcha comes first, in modes with captcha. */
  readonly captcha: boolean
  /** Whether an account with one-time codes needs one. An identity provider asks for its own. */
  readonly secondFactor: boolean
  /** The field whose value the login log shows as the name of a failed attempt. Absent: `username`. */
  readonly nameField?: string
  /** Reads its fields. Throws a Refusal when they do not fit. Asks nothing outside this process. */
  bind(fields: Fields, attempt: LoginAttempt): Credentials
}

interface Credentials {
  /** The name that guesses count against; `undefined` where guessing cannot succeed. */
  readonly name: string | undefined
  /**
   * User and role as the token carries them, or `undefined` for wrong credentials. Throws a Refusal for
   * any other no, and a Fault when it cannot decide.
   */
  verify(): Promise<Verified | undefined>
}

export interface Verified {
  readonly caller: Caller
  /** When the account was read, in seconds since the epoch. Absent: just before `verify`. */
  readonly readAt?: number
  /** What services learn about this person. */
  readonly claims?: CarriedClaims
  /** The session at an identity provider, for logouts. */
  readonly providerSession?: ProviderSession
}

interface ProviderSession {
  readonly provider: string
  readonly subject: string
  /** `sid` of the ID token. */
  readonly session: string | undefined
  readonly idToken: string
}

/** What a login sends as `provider` to choose name and password. */
export const passwordMethodName = 'password'

/** Every configured method. A login that names none gets the default. */
export type FindLoginMethod = (provider: string | undefined) => LoginMethod | undefined

/** Where the session at a provider ends too. */
export interface ProviderLogout {
  readonly provider: string
  readonly url: string
}
