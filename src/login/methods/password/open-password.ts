import type { Fields } from '../../fields.ts'
import { passwordMethodName } from '../../login-method.ts'
import type {
  FindAccount,
  MethodParts,
  OpenLoginMethod,
  VerifyNamed,
  VerifyPassword,
} from '../../method-kind.ts'
import type { PasswordHash } from '../../password-hash.ts'
import { maxPasswordBytes } from '../../passwords/password-length.ts'
import type { PasswordLogin } from './settings.ts'

export async function open(
  { local }: PasswordLogin,
  { findAccount, passwordHash, passwords, ...parts }: MethodParts,
): Promise<OpenLoginMethod> {
  const own =
    parts.verifyPassword ??
    (local ? createPasswordCredentials(findAccount, passwordHash) : createNoPasswords(passwordHash))
  const ofAccounts: VerifyNamed = async (given) => {
    const caller = await own(given)
    return caller && { caller }
  }
  const verify = passwords?.verify(local ? own : undefined) ?? ofAccounts
  const mostBytes = passwords?.mostBytes ?? maxPasswordBytes
  const method = {
    name: passwordMethodName,
    captcha: true,
    secondFactor: true,
    bind(fields: Fields) {
      const username = fields.text('username', 128)
      const password = fields.text('password', mostBytes)
      return { name: username, verify: () => verify({ username, password }) }
    },
  }
  return { methods: [method], form: local || passwords !== undefined ? 'password' : undefined }
}

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
