import type { Usage } from '../../policy/usage/usage.ts'
import { createDatabaseUsage } from '../../stores/usage/database-usage.ts'
import type { UsageStore } from '../../stores/usage/usage-entry.ts'
import { settingsOf, withExistingDatabase } from '../configured-database.ts'
import type { Surroundings } from '../context.ts'
import { type PolicySettings, unavailable } from '../policy-settings.ts'

/** Reads from the configured database, which it neither creates nor changes. */
export async function readDatabaseUsage(
  { config }: PolicySettings,
  read: (store: UsageStore) => Promise<Usage>,
  io: Surroundings,
): Promise<Usage> {
  if (config === undefined)
    return unavailable('give the configuration of the gateway with --config')
  return withExistingDatabase(settingsOf(config, io), (database) =>
    read(createDatabaseUsage(database)),
  )
}
