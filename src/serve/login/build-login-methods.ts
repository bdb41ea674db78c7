import type { Config } from '../../config/schema/schema.ts'
import type { LinkedAccounts } from '../../login/linked-account.ts'
import type { FindLoginMethod, LoginMethod } from '../../login/login-method.ts'
import { createNoPasswords, createPasswordCredentials } from '../../login/password-credentials.ts'
import type { PasswordHash } from '../../login/password-hash.ts'
import { createPasswordMethod, type VerifyPassword } from '../../login/password-method.ts'
import type { Accounts } from '../../stores/accounts/accounts.ts'
import type { UsedOnce } from '../../stores/identities/used-once.ts'

/** Every configured way to log in. The default is name and password, or the module where only it is left. */
export function buildLoginMethods({
  config: { local },
  accounts,
  passwordHash,
  verifyPassword = local
    ? createPasswordCredentials(accounts.findByUsername, passwordHash)
    : createNoPasswords(passwordHash),
  loginModule,
}: {
  readonly config: Config['login']
  readonly accounts: Accounts
  readonly passwordHash: PasswordHash
  readonly verifyPassword?: VerifyPassword | undefined
  readonly loginModule: LoginMethod | undefined
  /** For methods whose users another system vouches for. */
  readonly linkedAccounts: LinkedAccounts
  /** For what a login may present once. */
  readonly usedOnce: UsedOnce
}): FindLoginMethod {
  const standard = createPasswordMethod(verifyPassword)
  const methods = [standard, loginModule].filter((method) => method !== undefined)
  const byName = new Map(methods.map((method) => [method.name, method]))
  const byDefault = local ? standard : (loginModule ?? standard)
  return (provider) => (provider === undefined ? byDefault : byName.get(provider))
}
