import type { Fields } from '../../fields.ts'
import { passwordMethodName } from '../../login-method.ts'
import type { MethodParts, OpenLoginMethod, VerifyNamed } from '../../method-kind.ts'
import { maxPasswordBytes } from '../../passwords/password-length.ts'
import { createNoPasswords, createPasswordCredentials } from './password-credentials.ts'
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
