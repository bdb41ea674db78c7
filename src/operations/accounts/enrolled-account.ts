import { sealPurpose } from '../../login/second-factor/sealed-secret.ts'
import type { Database } from '../../stores/database/database.ts'
import type { Unchanged } from '../../stores/second-factor/enrollment-changes.ts'
import { enrolledAccounts } from '../../stores/second-factor/enrollment-directory.ts'
import { createDerivedKeys, type DerivedKeys } from '../../token/derived-keys.ts'
import { decline } from '../declined.ts'
import { configuredKeys, type TokenSettings } from '../tokens/configured-keys.ts'
import { accountsNamed } from './accounts-named.ts'

/**
 * The account that login would choose for this name, and its one-time codes if it has them. Declines
 * for unknown names and for programs.
 */
export async function meantAccount(name: string, database: Database) {
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
