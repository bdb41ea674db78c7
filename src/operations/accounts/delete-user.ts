import { accountSettings, withDatabase } from '../configured-database.ts'
import type { ReviewOf } from '../operation.ts'
import { accountsNamed } from './accounts-named.ts'
import { changeConfigured } from './change-configured.ts'
import type { userDelete } from './descriptions.ts'

export const review: ReviewOf<typeof userDelete> = async ({ name, force }, context) => {
  const settings = accountSettings(context.configFile, context)
  // Closed before asking: an open connection could block others while a person thinks.
  const found = await withDatabase(settings, (database) => accountsNamed(name, database))
  return {
    document: found.map(({ userId, roleKey }) => ({ userId, roleKey })),
    commit: () => changeConfigured({ verb: 'delete', name, force }, context),
  }
}
