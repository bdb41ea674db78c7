import { createAccountChanges } from '../../stores/accounts/account-changes.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import type { Changed, Unchanged } from '../../stores/accounts/account-edit.ts'
import { seedRoles } from '../../stores/accounts/seed.ts'
import type { Actor } from '../../stores/audit/audit.ts'
import type { Database } from '../../stores/database/database.ts'
import { decline, NotPermitted } from '../declined.ts'
import { howToCreate, noSuchRole, noSuchUser } from '../unknown-name.ts'
import { protectedAccount } from './protected-account.ts'

/** What was done, for the operator, and whose tokens to revoke. */
interface Outcome {
  readonly message: string
  readonly revokeTokensOf: readonly string[]
}

/** What to change about one account. */
export type Change =
  | { readonly verb: 'add'; readonly name: string; readonly role: string }
  | {
      readonly verb: 'role'
      readonly name: string
      readonly role: string
      readonly force: boolean
    }
  | { readonly verb: 'disable' | 'delete'; readonly name: string; readonly force: boolean }
  | { readonly verb: 'rename'; readonly name: string; readonly newName: string }
  | { readonly verb: 'passwd' | 'enable'; readonly name: string }

interface Parts {
  readonly database: Database
  readonly actor: Actor
  /** Roles that the actor must not give, and whose accounts they must not change. */
  readonly protectedRoles: readonly string[]
  /** That of the new password, or empty. */
  readonly passwordHash: string
}

/** Changes the account. Declines, with one line that says what to do, when nothing changed. */
export async function changeAccount(wanted: Change, parts: Parts): Promise<Outcome> {
  const { database, actor, passwordHash, protectedRoles } = parts
  const accounts = createAccountChanges(database, actor, protectedRoles)
  const { verb, name } = wanted
  switch (verb) {
    case 'add': {
      const first = await initialRoles(database, actor)
      const added = await accounts.add({ username: name, roleKey: wanted.role, passwordHash })
      await changed(added, wanted, database)
      return unrevoked(`${first}created user ${name} with role ${wanted.role}`)
    }
    case 'passwd': {
      const [before] = await createAccountDirectory(database).show(name)
      const ids = await changed(await accounts.setPassword(name, passwordHash), wanted, database)
      const had = before?.hasPassword !== false
      const message = had
        ? `set a new password for user ${name}`
        : `set a password for user ${name}, who had none: they can now log in with it too`
      return { message, revokeTokensOf: ids }
    }
    case 'role': {
      const { role, force } = wanted
      const ids = await changed(await accounts.setRole(name, role, force), wanted, database)
      return { message: `user ${name} now has role ${role}`, revokeTokensOf: ids }
    }
    case 'disable': {
      const result = await accounts.setEnabled(name, false, wanted.force)
      const ids = await changed(result, wanted, database)
      return { message: `disabled user ${name}`, revokeTokensOf: ids }
    }
    case 'delete': {
      const ids = await changed(await accounts.remove(name, wanted.force), wanted, database)
      return { message: `deleted user ${name} (ID ${ids.join(', ')})`, revokeTokensOf: ids }
    }
    case 'rename': {
      const ids = await changed(await accounts.rename(name, wanted.newName), wanted, database)
      return { message: `renamed user ${name} to ${wanted.newName}`, revokeTokensOf: ids }
    }
    case 'enable':
      await changed(await accounts.setEnabled(name, true), wanted, database)
      return unrevoked(`enabled user ${name}`)
  }
}

/** The first account or role of a database needs them. Says what was created, for the start of a message. */
export async function initialRoles(database: Database, actor: Actor): Promise<string> {
  const created = await seedRoles(database, actor)
  return created.length === 0 ? '' : `created the initial roles ${created.join(', ')}; `
}

function unrevoked(message: string): Outcome {
  return { message, revokeTokensOf: [] }
}

async function changed(
  result: Changed | Unchanged,
  wanted: Change,
  database: Database,
): Promise<readonly string[]> {
  if (typeof result !== 'string') return result.userIds
  if (result === 'protected-account') throw protectedAccount(wanted.name)
  if (result === 'protected-role') {
    const role = 'role' in wanted ? wanted.role : ''
    throw new NotPermitted(`only an account with role admin may give the role ${role}`)
  }
  return decline(await reason(result, wanted, database))
}

type Preventable = Exclude<Unchanged, 'protected-account' | 'protected-role'>

async function reason(result: Preventable, wanted: Change, database: Database): Promise<string> {
  const { name } = wanted
  const { list, roleKeys } = createAccountDirectory(database)
  switch (result) {
    case 'no-such-user':
      return noSuchUser(
        name,
        (await list()).map(({ username }) => username),
      )
    case 'no-such-role': {
      const role = 'role' in wanted ? wanted.role : ''
      return noSuchRole(role, await roleKeys(), howToCreate(role))
    }
    case 'name-taken':
      return `user ${'newName' in wanted ? wanted.newName : name} already exists: choose another name`
    case 'service-account':
      return `${name} is a service account: use the commands of "postern service"`
    case 'last-admin':
      return `${name} is the last enabled account with role admin: create or enable another admin first, or run again with --force`
  }
}
