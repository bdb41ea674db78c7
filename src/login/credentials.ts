import type { Caller } from '../token/caller.ts'
import type { LoginRequest } from './login-request.ts'

/**
 * The one step of login that another method (an SMS code, OAuth) replaces. Returns user and role as the
 * token carries them, or `undefined` for wrong credentials. Throws only when it cannot decide.
 * Specification, Authentication 7.
 */
export type VerifyCredentials = (request: LoginRequest) => Promise<Caller | undefined>
