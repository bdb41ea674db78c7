import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import { prepareTables } from '../../stores/accounts/prepare-tables.ts'
import type { Run } from '../command.ts'
import { json } from '../format.ts'
import type { migrateSpec } from './specs.ts'

/** Makes absent tables and says which. */
export const dbMigrate: Run<typeof migrateSpec> = async ({ options }, io) => {
  const config = loadConfig({ file: options.config, env: io.env, cwd: io.cwd })
  const directory = resolve(io.cwd, config.application.dataDirectory)
  const { made, roles } = await prepareTables({ ...config.database, directory })
  if (options.output === 'json') {
    io.out(json({ made, roles }))
    return 0
  }
  for (const name of made) io.out(`made table ${name}\n`)
  for (const key of roles) io.out(`made role ${key}\n`)
  if (made.length === 0) io.out('every table is there and fits\n')
  return 0
}
