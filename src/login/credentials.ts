import type { Caller } from '../token/caller.ts'
import type { LoginRequest } from './login-request.ts'

/**
 * The step of login that another method (an SMS code, OAuth) replaces, and the only one: it yields
 * a user and a role in the form that the token carries, or `undefined` when the credentials are
 * wrong. It throws only when it cannot tell. Specification, Authentication 7.
 */
export type VerifyCredentials = (request: LoginRequest) => Promise<Caller | undefined>
