import {
  type AccountDetails,
  createAccountDirectory,
} from '../../stores/accounts/account-directory.ts'
import type { Database } from '../../stores/database/database.ts'
import { decline } from '../declined.ts'
import { noSuchUser } from '../unknown-name.ts'

/** Every account of this name, first the one that login would choose. Declines when no account has it. */
export async function accountsNamed(
  name: string,
  database: Database,
): Promise<readonly [AccountDetails, ...AccountDetails[]]> {
  const { show, list } = createAccountDirectory(database)
  const [first, ...others] = await show(name)
  if (first !== undefined) return [first, ...others]
  const names = (await list()).map(({ username }) => username)
  return decline(noSuchUser(name, names))
}
