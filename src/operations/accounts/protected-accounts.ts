import { foldedName } from '../../login/folded-name.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import type { Database } from '../../stores/database/database.ts'
import type { Context } from '../context.ts'
import { NotPermitted } from '../declined.ts'

/** Says that the actor must not touch that account. */
export function protectedAccount(name: string): NotPermitted {
  return new NotPermitted(
    `${name} is an administrator or publisher: only an account with role admin may change or unlock it, or end its sessions`,
  )
}

/** The accounts that the actor must not touch. */
export async function protectedAccounts(
  database: Database,
  { protectedRoles = [] }: Pick<Context, 'protectedRoles'>,
) {
  const all = protectedRoles.length === 0 ? [] : await createAccountDirectory(database).list()
  const accounts = all.filter(({ roleKey }) => protectedRoles.includes(roleKey))
  const names = new Set(accounts.map(({ username }) => foldedName(username)))
  return {
    /** Refuses a change of these users if one of them is protected. */
    refuse(userIds: readonly string[] | 'all') {
      const found = accounts.find(({ userId }) => userIds === 'all' || userIds.includes(userId))
      if (found !== undefined) throw protectedAccount(found.username)
    },
    /** Whether one has this name, in any letter case: lock-outs count spellings together. */
    has: (name: string) => names.has(foldedName(name)),
  }
}
