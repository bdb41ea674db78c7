import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema/schema.ts'
import { Fault } from '../kernel/errors.ts'
import type { Database } from '../stores/database/database.ts'
import { openDatabase } from '../stores/database/open-database.ts'
import type { Context, Surroundings } from './context.ts'
import type { SharedStores } from './shared-stores.ts'

/** The configuration, and where its embedded database lies. */
export interface AccountSettings {
  readonly config: Config
  readonly directory: string
  readonly shared?: SharedStores | undefined
}

/** Reads the configuration. Throws `Invalid` when it is not valid. */
export function accountSettings(
  file: string | undefined,
  io: Pick<Surroundings, 'env' | 'cwd' | 'shared'>,
): AccountSettings {
  return settingsOf(loadConfig({ file, env: io.env, cwd: io.cwd }), io)
}

/** The database settings of a configuration that was read already. */
export function settingsOf(
  config: Config,
  { cwd, shared }: Pick<Surroundings, 'cwd' | 'shared'>,
): AccountSettings {
  return { config, directory: resolve(cwd, config.application.dataDirectory), shared }
}

/** Runs `work` with the database of the caller's configuration. */
export function inDatabase<Result>(
  context: Context,
  work: (database: Database, settings: AccountSettings) => Promise<Result>,
): Promise<Result> {
  const settings = accountSettings(context.configFile, context)
  return withDatabase(settings, (database) => work(database, settings))
}

/** Opens the configured database, or borrows the one that stays open, runs `work` and closes it. */
export async function withDatabase<Result>(
  { config, directory, shared }: AccountSettings,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const options = { ...config.database, directory }
  if (shared !== undefined) return work(await shared.database(options))
  const database = await openDatabase(options)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/**
 * Opens the database for a question: creates neither a database nor tables. Throws a Fault when the embedded
 * database does not exist. A gateway that has it open answers.
 */
export async function withExistingDatabase<Result>(
  { config, directory, shared }: AccountSettings,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  if (config.database.url === undefined && !existsSync(join(directory, 'database'))) {
    const reason = `${directory} has no embedded database: give the configuration of the gateway with --config`
    throw new Fault('database', { reason })
  }
  return withDatabase({ config: withoutMigration(config), directory, shared }, work)
}

function withoutMigration(config: Config): Config {
  return { ...config, database: { ...config.database, migrate: 'never' } }
}
