import { resolve } from 'node:path'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema/schema.ts'
import { type Database, openDatabase } from '../stores/database/database.ts'
import type { Io } from './io.ts'

/** The configuration, and where its embedded database lies. */
interface AccountSettings {
  readonly config: Config
  readonly directory: string
}

/** Reads the configuration. Throws `Invalid` when it is not valid. */
export function accountSettings(file: string | undefined, io: Io): AccountSettings {
  const config = loadConfig({ file, env: io.env, cwd: io.cwd })
  return { config, directory: resolve(io.cwd, config.application.dataDirectory) }
}

/** Opens the configured database, runs `work` and closes it. */
export async function withDatabase<Result>(
  { config, directory }: AccountSettings,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase({ ...config.database, directory })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}
