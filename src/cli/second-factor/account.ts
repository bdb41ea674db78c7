import { sealPurpose } from '../../login/second-factor/sealed-secret.ts'
import { accountsNamed } from '../../operations/accounts/accounts-named.ts'
import { decline } from '../../operations/declined.ts'
import { configuredKeys, type TokenSettings } from '../../operations/tokens/configured-keys.ts'
import type { Database } from '../../stores/database/database.ts'
import type { Unchanged } from '../../stores/second-factor/enrollment-changes.ts'
import {
  type EnrolledAccount,
  enrolledAccounts,
} from '../../stores/second-factor/enrollment-directory.ts'
import { createDerivedKeys, type DerivedKeys } from '../../token/derived-keys.ts'
import { printable } from '../format.ts'

/** What every form of the command takes. */
export interface TotpOptions {
  readonly config: string | undefined
  readonly output: 'text' | 'json'
}

interface Meant {
  readonly username: string
  readonly userId: string
  readonly roleKey: string
  /** `undefined` without one-time codes. */
  readonly enrolled: EnrolledAccount | undefined
}

/** The account that login would choose for this name. Declines for unknown names and for programs. */
export async function meantAccount(name: string, database: Database): Promise<Meant> {
  const [{ username, userId, roleKey, kind }] = await accountsNamed(name, database)
  if (kind === 'service') declined('service-account', name)
  const [enrolled] = await enrolledAccounts(database, userId)
  return { username, userId, roleKey, enrolled }
}

/** The keys of the gateways, as they encrypt secrets with them. */
export async function sealKeys(settings: TokenSettings): Promise<DerivedKeys> {
  const keys = await configuredKeys(settings)
  return createDerivedKeys(() => keys, sealPurpose)
}

export function declined(result: Unchanged, name: string): never {
  switch (result) {
    case 'no-such-user':
      return decline(`user ${name} was changed meanwhile: run the command again`)
    case 'service-account':
      return decline(`${name} is a service account: programs have tokens and never log in`)
    case 'not-enrolled':
      return decline(`user ${name} has no one-time codes: enroll with "postern user totp ${name}"`)
  }
}

export function recoveryText(username: string, codes: readonly string[]): string {
  const about = `Recovery codes of ${printable(username)}, shown once. Each works once in place of a one-time code:`
  return `${about}\n\n${codes.map((code) => `  ${code}\n`).join('')}`
}
