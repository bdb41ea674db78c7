import type { FindAccount, VerifyPassword } from '../../method-kind.ts'
import type { PasswordHash } from '../../password-hash.ts'

/** Refuses every name and password, in the time that a wrong password takes. */
export function createNoPasswords(passwordHash: PasswordHash): VerifyPassword {
  return async ({ password }) => {
    await passwordHash.verifyDummy(password)
    return undefined
  }
}

/**
 * User name and password. An unknown name, a disabled account and a wrong password get the same answer
 * in the same time, so that attackers cannot enumerate names.
 */
export function createPasswordCredentials(
  findAccount: FindAccount,
  passwordHash: PasswordHash,
): VerifyPassword {
  return async ({ username, password }) => {
    const account = await findAccount(username)
    if (account === undefined) {
      await passwordHash.verifyDummy(password)
      return undefined
    }
    const { passwordHash: stored, enabled, caller } = account
    return (await passwordHash.verify(password, stored, enabled)) ? caller : undefined
  }
}
