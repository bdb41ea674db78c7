import { accountSettings, withDatabase } from '../../operations/configured-database.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import type { Run } from '../command.ts'
import { formatTable, jsonLine } from '../format.ts'
import type { listSpec } from './specs.ts'

interface Status {
  readonly enabled: boolean
  readonly kind: 'user' | 'service'
}

/** A service account never logs in, whatever its row says. */
export function statusInWords({ enabled, kind }: Status): string {
  if (kind === 'service') return 'no login'
  return enabled ? 'enabled' : 'disabled'
}

/** Lists the accounts as a table or as one JSON document. IDs are text, so that they are exact. */
export const userList: Run<typeof listSpec> = async ({ options }, io) => {
  const accounts = await withDatabase(accountSettings(options.config, io), (database) =>
    createAccountDirectory(database).list({
      startsWith: options['starts-with'],
      limit: options.limit,
    }),
  )
  const rows = accounts.map(({ userId, username, roleKey, enabled, kind, secondFactor }) => {
    const status = statusInWords({ enabled, kind })
    return [userId, username, roleKey, status, kind, secondFactor ? 'yes' : 'no']
  })
  const titles = ['ID', 'NAME', 'ROLE', 'STATUS', 'KIND', 'OTP']
  const isJson = options.output === 'json'
  io.out(isJson ? jsonLine(accounts) : formatTable([titles, ...rows]))
  return 0
}
