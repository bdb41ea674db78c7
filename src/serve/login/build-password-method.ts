import type { Config } from '../../config/schema/schema.ts'
import type { LinkedAccounts } from '../../login/linked-account.ts'
import type { LoginMethod } from '../../login/login-method.ts'
import { createDirectoryCredentials } from '../../login/methods/ldap/directory-credentials.ts'
import type { Directory } from '../../login/methods/ldap/open-directory.ts'
import {
  createNoPasswords,
  createPasswordCredentials,
} from '../../login/methods/password/password-credentials.ts'
import {
  createPasswordMethod,
  type VerifyPassword,
} from '../../login/methods/password/password-method.ts'
import type { PasswordHash } from '../../login/password-hash.ts'
import type { Accounts } from '../../stores/accounts/accounts.ts'

export interface PasswordMethodParts {
  readonly config: Config['login']
  readonly accounts: Accounts
  readonly passwordHash: PasswordHash
  readonly verifyPassword?: VerifyPassword | undefined
  readonly linkedAccounts: LinkedAccounts
  readonly directory: Directory | undefined
}

/** Directories accept longer passwords than bcrypt reads. */
const mostDirectoryBytes = 512

/** Name and password: of our accounts, of people in a directory, or both. */
export function buildPasswordMethod({
  config: { local, ldap },
  accounts,
  passwordHash,
  verifyPassword = local
    ? createPasswordCredentials(accounts.findByUsername, passwordHash)
    : createNoPasswords(passwordHash),
  linkedAccounts,
  directory,
}: PasswordMethodParts): LoginMethod {
  if (ldap === undefined || directory === undefined) {
    return createPasswordMethod(async (given) => {
      const caller = await verifyPassword(given)
      return caller && { caller }
    })
  }
  const verify = createDirectoryCredentials({
    ...ldap,
    ...{ passwordHash, linkedAccounts },
    verifyPassword: local ? verifyPassword : undefined,
    verifyInDirectory: directory.verify,
    rules: ldap,
  })
  return createPasswordMethod(verify, mostDirectoryBytes)
}
