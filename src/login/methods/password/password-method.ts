import type { Caller } from '../../../token/caller.ts'
import type { LoginMethod, Verified } from '../../login-method.ts'
import { maxPasswordBytes } from '../../passwords/password-length.ts'

export interface NameAndPassword {
  readonly username: string
  readonly password: string
}

/** Returns `undefined` for a wrong name or password. Throws only when it cannot decide. */
export type VerifyPassword = (given: NameAndPassword) => Promise<Caller | undefined>

/** What a login sends as `provider` to choose name and password. */
export const passwordMethodName = 'password'

/** Name and password, whoever keeps them: our accounts, a directory, or one after the other. */
export function createPasswordMethod(
  verify: (given: NameAndPassword) => Promise<Verified | undefined>,
  mostBytes = maxPasswordBytes,
): LoginMethod {
  return {
    name: passwordMethodName,
    captcha: true,
    secondFactor: true,
    bind(fields) {
      const username = fields.text('username', 128)
      const password = fields.text('password', mostBytes)
      return { name: username, verify: () => verify({ username, password }) }
    },
  }
}
