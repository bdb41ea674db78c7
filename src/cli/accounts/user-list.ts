import type { AccountSummary } from '../../stores/accounts/account-changes.ts'
import { formatTable } from '../table.ts'

/** The accounts as a table for people, or as one JSON document. Ids are text: they are exact. */
export function formatAccounts(
  accounts: readonly AccountSummary[],
  output: 'text' | 'json',
): string {
  if (output === 'json') return `${JSON.stringify(accounts)}\n`

  const rows = accounts.map(({ userId, username, roleKey, enabled }) => {
    return [userId, username, roleKey, enabled ? 'enabled' : 'disabled']
  })
  return formatTable([['ID', 'NAME', 'ROLE', 'STATUS'], ...rows])
}
