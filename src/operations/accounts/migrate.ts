import { prepareTables } from '../../stores/accounts/prepare-tables.ts'
import { accountSettings } from '../configured-database.ts'
import type { RunOf } from '../operation.ts'
import type { dbMigrate } from './descriptions.ts'

/** Creates missing tables and lists them. */
export const run: RunOf<typeof dbMigrate> = async (_, context) => {
  const { config, directory } = accountSettings(context.configFile, context)
  return { document: await prepareTables({ ...config.database, directory }, context.actor) }
}
