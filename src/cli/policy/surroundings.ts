import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Surroundings } from '../../policy/checks/check.ts'
import { type KnownRoles, knownRoles } from '../../policy/checks/known-roles.ts'
import { createAccountChanges } from '../../stores/accounts/account-changes.ts'
import { accountSettings, withDatabase } from '../configured-database.ts'
import type { Io } from '../io.ts'
import { type PolicySettings, unavailable } from '../settings.ts'
import { readVersion } from './versions.ts'

/** The options that say what to check a policy against. */
interface SurroundingOptions {
  readonly config: string | undefined
  readonly against?: string | undefined
  readonly accounts?: boolean
}

/**
 * The routes of the configuration and, where the user asks for them, the roles of another policy and of
 * the accounts. Only the latter need a network. Throws a Fault when they cannot be asked.
 */
export async function readSurroundings(
  settings: PolicySettings,
  { config, against, accounts = false }: SurroundingOptions,
  io: Io,
): Promise<Surroundings> {
  return {
    routes: routesOf(settings),
    ...(against !== undefined && { before: await rolesOfVersion(against, settings, io) }),
    ...(accounts && { assignable: await rolesOfAccounts(settings, config, io) }),
  }
}

/** The paths that this gateway serves. With forward-auth another proxy routes, so they are not known. */
function routesOf({ config }: PolicySettings): readonly string[] {
  if (config === undefined || config.forwardAuth.enabled) return []
  return config.routes.map(({ path }) => path)
}

async function rolesOfVersion(
  against: string,
  settings: PolicySettings,
  io: Io,
): Promise<KnownRoles> {
  const { set } = await readVersion(against, settings, io)
  return knownRoles(against === 'live' ? `the live policy ${set.revision}` : against, set)
}

/** Reads the table of roles as it is: a check creates neither tables nor a database. */
async function rolesOfAccounts(
  settings: PolicySettings,
  file: string | undefined,
  io: Io,
): Promise<KnownRoles> {
  const config = settings.config ?? accountSettings(file, io).config
  const directory = resolve(io.cwd, config.application.dataDirectory)
  if (config.database.url === undefined && !existsSync(join(directory, 'database'))) {
    return unavailable(
      `--accounts: ${config.application.dataDirectory} has no embedded database: start the gateway once, or set database.url`,
    )
  }
  const readOnly = { ...config, database: { ...config.database, migrate: 'never' as const } }
  const roleKeys = await withDatabase({ config: readOnly, directory }, (database) =>
    createAccountChanges(database).roleKeys(),
  )
  return { name: 'sys_role', roleKeys: new Set(roleKeys) }
}
