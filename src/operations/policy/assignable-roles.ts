import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { KnownRoles } from '../../policy/checks/known-roles.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import { accountSettings, withDatabase } from '../configured-database.ts'
import type { Surroundings } from '../context.ts'
import { type PolicySettings, unavailable } from '../policy-settings.ts'

/** Reads the table of roles as it is: a check creates neither tables nor a database. */
export async function readAssignableRoles(
  settings: PolicySettings,
  file: string | undefined,
  io: Surroundings,
): Promise<KnownRoles> {
  const config = settings.config ?? accountSettings(file, io).config
  const directory = resolve(io.cwd, config.application.dataDirectory)
  if (config.database.url === undefined && !existsSync(join(directory, 'database'))) {
    return unavailable(
      `--accounts: ${config.application.dataDirectory} has no embedded database: start the gateway once, or set database.url`,
    )
  }
  const readOnly = { ...config, database: { ...config.database, migrate: 'never' as const } }
  const roleKeys = await withDatabase(
    { config: readOnly, directory, shared: io.shared },
    (database) => createAccountDirectory(database).roleKeys(),
  )
  return { name: 'sys_role', roleKeys: new Set(roleKeys) }
}
