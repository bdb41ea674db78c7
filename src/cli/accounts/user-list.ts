import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import type { Run } from '../command.ts'
import { accountSettings, withDatabase } from '../configured-database.ts'
import { formatTable, jsonLine } from '../format.ts'
import type { listSpec } from './specs.ts'

/** Lists the accounts as a table or as one JSON document. IDs are text, so that they are exact. */
export const userList: Run<typeof listSpec> = async ({ options }, io) => {
  const accounts = await withDatabase(accountSettings(options.config, io), (database) =>
    createAccountDirectory(database).list(),
  )
  const rows = accounts.map(({ userId, username, roleKey, enabled }) => {
    return [userId, username, roleKey, enabled ? 'enabled' : 'disabled']
  })
  const titles = ['ID', 'NAME', 'ROLE', 'STATUS']
  const isJson = options.output === 'json'
  io.out(isJson ? jsonLine(accounts) : formatTable([titles, ...rows]))
  return 0
}
