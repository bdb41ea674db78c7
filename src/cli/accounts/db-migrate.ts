import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import { prepareTables } from '../../stores/accounts/prepare-tables.ts'
import type { Run } from '../command.ts'
import { json } from '../format.ts'
import { operator } from '../operator.ts'
import type { migrateSpec } from './specs.ts'

/** Creates missing tables and lists them. */
export const dbMigrate: Run<typeof migrateSpec> = async ({ options }, io) => {
  const config = loadConfig({ file: options.config, env: io.env, cwd: io.cwd })
  const directory = resolve(io.cwd, config.application.dataDirectory)
  const { made, roles } = await prepareTables({ ...config.database, directory }, operator(io))
  if (options.output === 'json') {
    io.out(json({ made, roles }))
    return 0
  }
  for (const name of made) io.out(`created table ${name}\n`)
  for (const key of roles) io.out(`created role ${key}\n`)
  if (made.length === 0) io.out('all tables exist and match\n')
  return 0
}
