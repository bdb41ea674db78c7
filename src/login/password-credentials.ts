import type { Caller } from '../token/caller.ts'
import type { VerifyCredentials } from './credentials.ts'
import type { PasswordHash } from './password-hash.ts'

/** A user with a role, and what is needed to check a password against it. */
export interface Account {
  readonly caller: Caller
  readonly passwordHash: string
  readonly enabled: boolean
}

type FindAccount = (username: string) => Promise<Account | undefined>

/**
 * Credentials by user name and password. An unknown name, a disabled account and a wrong password
 * are one answer and take one time, so that nobody learns from it which names exist.
 */
export function createPasswordCredentials(
  findAccount: FindAccount,
  passwordHash: PasswordHash,
): VerifyCredentials {
  return async ({ username, password }) => {
    const account = await findAccount(username)
    if (account === undefined) {
      await passwordHash.waste(password)
      return undefined
    }
    const { passwordHash: stored, enabled, caller } = account
    return (await passwordHash.verify(password, stored, enabled)) ? caller : undefined
  }
}
