import { foldedName } from '../../login/folded-name.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import type { Database } from '../../stores/database/database.ts'
import { decline } from '../declined.ts'
import type { Io } from '../io.ts'

/** Says that this person must not change that account. */
export function protectedAccount(name: string): string {
  return `${name} is an administrator or publisher: only an account with role admin may change it`
}

/** Declines when an account of this name, in any letter case, has a role that this person must not touch. */
export async function requireUnprotected(
  name: string,
  database: Database,
  { protectedRoles = [] }: Pick<Io, 'protectedRoles'>,
): Promise<void> {
  if (protectedRoles.length === 0) return
  const accounts = await createAccountDirectory(database).list()
  const isMeant = ({ username, roleKey }: (typeof accounts)[number]) =>
    foldedName(username) === foldedName(name) && protectedRoles.includes(roleKey)
  if (accounts.some(isMeant)) decline(protectedAccount(name))
}
