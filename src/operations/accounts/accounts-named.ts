import {
  type AccountDetails,
  createAccountDirectory,
} from '../../stores/accounts/account-directory.ts'
import type { Database } from '../../stores/database/database.ts'
import { decline } from '../declined.ts'
import { howToCreate, noSuchRole, noSuchUser } from '../unknown-name.ts'

/** Every account of this name, first the one that login would choose. Declines when no account has it. */
export async function accountsNamed(
  name: string,
  database: Database,
): Promise<readonly [AccountDetails, ...AccountDetails[]]> {
  const [first, ...others] = await createAccountDirectory(database).show(name)
  return first === undefined ? declineUser(name, database) : [first, ...others]
}

/** Says that no account has this name, and which one may be meant. */
export async function declineUser(name: string, database: Database): Promise<never> {
  const accounts = await createAccountDirectory(database).list()
  const names = accounts.map(({ username }) => username)
  return decline(noSuchUser(name, names))
}

/** Says that no role has this key, and what to do. */
export async function declineRole(role: string, database: Database): Promise<never> {
  const known = await createAccountDirectory(database).roleKeys()
  return decline(noSuchRole(role, known, howToCreate(role)))
}
