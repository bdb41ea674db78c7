import { type Changed, createAccountChanges } from '../../stores/accounts/account-changes.ts'
import { seedRoles } from '../../stores/accounts/seed.ts'
import type { Database } from '../../stores/database/database.ts'

/** What came of a change, in words, and whose tokens it ends. */
export interface Outcome {
  readonly done: boolean
  readonly words: string
  readonly endTokensOf: readonly string[]
}

/** What to change about one account. */
export type Change =
  | { readonly verb: 'add' | 'role'; readonly name: string; readonly role: string }
  | { readonly verb: 'passwd' | 'disable' | 'enable'; readonly name: string }

/** Makes the change. `passwordHash` is that of the password to set, if there is one. */
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
      return outcome(name, changed, 'has a new password')
    }
    case 'role': {
      const changed = await accounts.setRole(name, wanted.role)
      if (changed === 'no-such-role') return noSuchRole(wanted.role, await accounts.roleKeys())
      return outcome(name, changed, `has the role ${wanted.role}`)
    }
    case 'disable': {
      const changed = await accounts.setEnabled(name, false)
      return outcome(name, changed, 'is disabled')
    }
    case 'enable': {
      const changed = await accounts.setEnabled(name, true)
      return { ...outcome(name, changed, 'is enabled'), endTokensOf: [] }
    }
  }
}

async function add(
  { name, role }: Extract<Change, { role: string }>,
  passwordHash: string,
  database: Database,
): Promise<Outcome> {
  const accounts = createAccountChanges(database)
  const made = await seedRoles(database)
  const first = made.length === 0 ? '' : `made the first roles, ${made.join(', ')}; `
  const added = await accounts.add({ username: name, roleKey: role, passwordHash })
  switch (added) {
    case 'added':
      return plain(true, `${first}user ${name} is added with role ${role}`)
    case 'name-taken':
      return plain(false, `${first}the name is taken: ${name}`)
    case 'no-such-role':
      return noSuchRole(role, await accounts.roleKeys())
  }
}

function outcome(name: string, changed: Changed, words: string): Outcome {
  return changed.length === 0
    ? plain(false, `no such user: ${JSON.stringify(name)}`)
    : { done: true, words: `user ${name} ${words}`, endTokensOf: changed }
}

function noSuchRole(role: string, known: readonly string[]): Outcome {
  const there = known.length === 0 ? 'there is none' : `there are ${known.join(', ')}`
  return plain(false, `no such role: ${JSON.stringify(role)}; ${there}`)
}

function plain(done: boolean, words: string): Outcome {
  return { done, words, endTokensOf: [] }
}
