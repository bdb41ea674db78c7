import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import { createAccountChanges } from '../../stores/accounts/account-changes.ts'
import { openDatabase } from '../../stores/database/database.ts'
import type { Run } from '../command.ts'
import { formatTable } from '../format.ts'
import type { listSpec } from './specs.ts'

/** Lists the accounts as a table or as one JSON document. IDs are text, so that they are exact. */
export const userList: Run<typeof listSpec> = async ({ options }, io) => {
  const config = loadConfig({ file: options.config, env: io.env, cwd: io.cwd })
  const directory = resolve(io.cwd, config.application.dataDirectory)
  const database = await openDatabase({ ...config.database, directory })
  try {
    const accounts = await createAccountChanges(database).list()
    const rows = accounts.map(({ userId, username, roleKey, enabled }) => {
      return [userId, username, roleKey, enabled ? 'enabled' : 'disabled']
    })
    const titles = ['ID', 'NAME', 'ROLE', 'STATUS']
    const isJson = options.output === 'json'
    io.out(isJson ? `${JSON.stringify(accounts)}\n` : formatTable([titles, ...rows]))
    return 0
  } finally {
    await database.close()
  }
}
