import { type Changed, createAccountChanges } from '../../stores/accounts/account-changes.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import { seedRoles } from '../../stores/accounts/seed.ts'
import type { Database } from '../../stores/database/database.ts'
import { didYouMean } from '../../suggest.ts'

/** The result of a change, for the user, and whose tokens to revoke. */
export interface Outcome {
  readonly done: boolean
  readonly message: string
  readonly revokeTokensOf: readonly string[]
}

/** What to change about one account. */
export type Change =
  | { readonly verb: 'add' | 'role'; readonly name: string; readonly role: string }
  | { readonly verb: 'passwd' | 'disable' | 'enable'; readonly name: string }

/** Changes the account. `passwordHash`: that of the new password, or empty. */
export async function changeAccount(
  wanted: Change,
  passwordHash: string,
  database: Database,
): Promise<Outcome> {
  const accounts = createAccountChanges(database)
  const { verb, name } = wanted
  switch (verb) {
    case 'add':
      return add(wanted, passwordHash, database)
    case 'passwd': {
      const changed = await accounts.setPassword(name, passwordHash)
      return outcome(name, changed, `set a new password for user ${name}`)
    }
    case 'role': {
      const changed = await accounts.setRole(name, wanted.role)
      if (changed === 'no-such-role')
        return noSuchRole(wanted.role, await createAccountDirectory(database).roleKeys())
      return outcome(name, changed, `user ${name} now has role ${wanted.role}`)
    }
    case 'disable': {
      const changed = await accounts.setEnabled(name, false)
      return outcome(name, changed, `disabled user ${name}`)
    }
    case 'enable': {
      const changed = await accounts.setEnabled(name, true)
      return { ...outcome(name, changed, `enabled user ${name}`), revokeTokensOf: [] }
    }
  }
}

async function add(
  { name, role }: Extract<Change, { role: string }>,
  passwordHash: string,
  database: Database,
): Promise<Outcome> {
  const accounts = createAccountChanges(database)
  const created = await seedRoles(database)
  const first = created.length === 0 ? '' : `created the initial roles ${created.join(', ')}; `
  const added = await accounts.add({ username: name, roleKey: role, passwordHash })
  switch (added) {
    case 'added':
      return plain(true, `${first}created user ${name} with role ${role}`)
    case 'name-taken':
      return plain(false, `${first}user ${name} already exists: choose another name`)
    case 'no-such-role':
      return noSuchRole(role, await createAccountDirectory(database).roleKeys())
  }
}

function outcome(name: string, changed: Changed, message: string): Outcome {
  return changed.length === 0
    ? plain(
        false,
        `user ${JSON.stringify(name)} does not exist: "postern user list" shows all users`,
      )
    : { done: true, message, revokeTokensOf: changed }
}

function noSuchRole(role: string, known: readonly string[]): Outcome {
  const defined = `(defined: ${known.join(', ') || 'none'})`
  return plain(
    false,
    `role ${JSON.stringify(role)} does not exist ${defined}${didYouMean(role, known)}`,
  )
}

function plain(done: boolean, message: string): Outcome {
  return { done, message, revokeTokensOf: [] }
}
