import { accountsNamed } from '../../operations/accounts/accounts-named.ts'
import { type AccountSettings, withDatabase } from '../../operations/configured-database.ts'
import { decline } from '../../operations/declined.ts'
import type { AccountDetails } from '../../stores/accounts/account-directory.ts'
import { isConfirmed } from '../confirm.ts'
import type { Io } from '../io.ts'

/** Shows which accounts a deletion is about, and asks. Declines unless the answer is yes. */
export async function confirmDeletion(
  name: string,
  settings: AccountSettings,
  io: Io,
): Promise<void> {
  // Closed before asking: an open connection could block others while a person thinks.
  const found = await withDatabase(settings, (database) => accountsNamed(name, database))
  const whom = `user ${name} (${found.map(described).join('; ')})`
  await askToDelete(name, whom, io)
}

/** Declines unless the answer is yes. */
export async function askToDelete(name: string, whom: string, io: Io): Promise<void> {
  const unasked = `stdin or stderr is not a terminal: to delete ${whom}, run again with --yes`
  if (!(await isConfirmed(`Delete ${whom}?`, unasked, io))) decline(`user ${name} is not deleted`)
}

function described({ userId, roleKey }: AccountDetails): string {
  return `ID ${userId}, role ${roleKey || 'none'}`
}
