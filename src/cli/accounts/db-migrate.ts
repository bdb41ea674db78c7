import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import { prepareTables } from '../../stores/accounts/prepare-tables.ts'
import { json, policyCommand } from '../command.ts'

const help = `usage: postern db migrate [--output text|json] [--config FILE]

Makes the tables that are absent in the configured database, and the first roles where there was no
table of roles. Tables that exist are left as they are; when they do not fit, every difference is
shown and nothing works on them. Safe to run again, and by several at once.

  postern db migrate
  POSTERN_DATABASE__URL=postgres://owner@db/postern postern db migrate

A gateway does the same at its start, unless database.migrate is never.

Exit codes: 0 every table is there and fits, 1 the database is away or says no, 2 bad arguments,
3 a table does not fit.
`

/** Makes absent tables and says which. */
export const dbMigrate = policyCommand(
  { help, options: {}, positionals: [0, 0] },
  async ({ values, output }, io) => {
    const config = loadConfig({ file: values.config, env: io.env, cwd: io.cwd })
    const directory = resolve(io.cwd, config.application.dataDirectory)
    const { made, roles } = await prepareTables({ ...config.database, directory })
    if (output === 'json') {
      io.out(json({ made, roles }))
      return 0
    }
    for (const name of made) io.out(`made table ${name}\n`)
    for (const key of roles) io.out(`made role ${key}\n`)
    if (made.length === 0) io.out('every table is there and fits\n')
    return 0
  },
)
