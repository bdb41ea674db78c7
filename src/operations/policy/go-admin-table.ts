import { resolve } from 'node:path'
import { readConfig } from '../../config/load.ts'
import { Invalid } from '../../kernel/errors.ts'
import { openDatabase } from '../../stores/database/open-database.ts'
import { withForeignDatabase } from '../../stores/policies/casbin-rows.ts'
import {
  type WatchedTable,
  watchCasbinTable,
} from '../../stores/policies/follow/table-fingerprint.ts'
import type { Context } from '../context.ts'

/** Reading a million rows takes longer than the timeouts of a login allow. */
const foreignLimits = { poolSize: 1, connectTimeoutMs: 5000, statementTimeoutMs: 60_000 }

/**
 * Opens the Casbin table in the database of a configuration, or of POSTERN_DATABASE__URL where the
 * configuration is not valid otherwise: people who import policies often lack the secrets of a gateway.
 */
export async function withGoAdminTable<Result>(
  table: string | undefined,
  { configFile: file, env, cwd }: Context,
  work: (table: WatchedTable) => Promise<Result>,
): Promise<Result> {
  const { config, problems } = readConfig({ file, env, cwd })
  const { POSTERN_DATABASE__URL: url = config?.database.url } = env
  if (url !== undefined) {
    return withForeignDatabase({ ...foreignLimits, url }, (db) => work(watchCasbinTable(db, table)))
  }
  if (config === undefined) throw new Invalid(problems)
  const directory = resolve(cwd, config.application.dataDirectory)
  const database = await openDatabase({ ...config.database, directory })
  try {
    return await work(watchCasbinTable(database.db, table))
  } finally {
    await database.close()
  }
}
