import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import { inDatabase } from '../configured-database.ts'
import type { RunOf } from '../operation.ts'
import type { userList } from './descriptions.ts'

/** Lists the accounts. IDs are text, so that they are exact. */
export const run: RunOf<typeof userList> = ({ 'starts-with': startsWith, limit }, context) =>
  inDatabase(context, async (database) => ({
    document: await createAccountDirectory(database).list({ startsWith, limit }),
  }))
