import { createAccountChanges } from '../../stores/accounts/account-changes.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import type { Changed, Unchanged } from '../../stores/accounts/account-edit.ts'
import { nameProblem } from '../../stores/accounts/account-name.ts'
import { createRoleChanges } from '../../stores/accounts/role-changes.ts'
import { seedRoles } from '../../stores/accounts/seed.ts'
import type { Actor } from '../../stores/audit/audit.ts'
import type { Database } from '../../stores/database/database.ts'
import { inDatabase } from '../configured-database.ts'
import type { Context } from '../context.ts'
import { decline, NotPermitted } from '../declined.ts'
import { UnusableValue } from '../invalid-input.ts'
import type { ReviewOf, RunOf } from '../operation.ts'
import { answerRevoked, tokensOf } from '../tokens/revoke-tokens.ts'
import { accountsNamed, declineRole, declineUser } from './accounts-named.ts'
import type * as described from './descriptions.ts'
import { hashPassword, newPassword } from './new-password.ts'
import { protectedAccount } from './protected-accounts.ts'

export const userAdd: RunOf<typeof described.userAdd> = async (input, context) => {
  const { name, role } = input
  checkName(name)
  const { hash, shown } = await newPassword(input, context)
  return changeAccount({ done: 'add', username: name }, context, async (changes, database) => {
    const first = await initialRoles(database, context.actor)
    const passwordHash = await hash()
    const result = await changes.add({ username: name, roleKey: role, passwordHash })
    const message = `${first}created user ${name} with role ${role}`
    return { result, message, role, shown, revokes: false }
  })
}

export const userPasswd: RunOf<typeof described.userPasswd> = async (input, context) => {
  const { name } = input
  const { hash, shown } = await newPassword(input, context)
  return changeAccount({ done: 'passwd', username: name }, context, async (changes, database) => {
    const passwordHash = await hash()
    const [before] = await createAccountDirectory(database).show(name)
    const had = before?.hasPassword !== false
    const message = had
      ? `set a new password for user ${name}`
      : `set a password for user ${name}, who had none: they can now log in with it too`
    return { result: await changes.setPassword(name, passwordHash), message, shown }
  })
}

export const userRole: RunOf<typeof described.userRole> = ({ name, role, force }, context) =>
  changeAccount({ done: 'role', username: name }, context, async (changes) => ({
    result: await changes.setRole(name, role, force),
    message: `user ${name} now has role ${role}`,
    role,
  }))

export const userDisable: RunOf<typeof described.userDisable> = ({ name, force }, context) =>
  changeAccount({ done: 'disable', username: name }, context, async (changes) => ({
    result: await changes.setEnabled(name, false, force),
    message: `disabled user ${name}`,
  }))

export const userEnable: RunOf<typeof described.userEnable> = ({ name }, context) =>
  changeAccount({ done: 'enable', username: name }, context, async (changes) => ({
    result: await changes.setEnabled(name, true),
    message: `enabled user ${name}`,
    revokes: false,
  }))

export const userRename: RunOf<typeof described.userRename> = async (
  { old: name, new: newName },
  context,
) => {
  checkName(newName)
  return changeAccount({ done: 'rename', username: name, newName }, context, async (changes) => ({
    result: await changes.rename(name, newName),
    message: `renamed user ${name} to ${newName}`,
  }))
}

export const userDelete: ReviewOf<typeof described.userDelete> = async (input, context) => {
  const { name, force } = input
  // Closed before asking: an open connection could block others while a person thinks.
  const found = await inDatabase(context, (database) => accountsNamed(name, database))
  return {
    document: found.map(({ userId, roleKey }) => ({ userId, roleKey })),
    commit: () =>
      changeAccount({ done: 'delete', username: name }, context, async (changes) => {
        const result = await changes.remove(name, force)
        const ids = typeof result === 'string' ? [] : result.userIds
        return { result, message: `deleted user ${name} (ID ${ids.join(', ')})` }
      }),
  }
}

/** Creates the role and the account of a new project in its database. */
export async function createFirstAccount(
  { name, password }: { readonly name: string; readonly password: string },
  role: string,
  context: Context,
): Promise<void> {
  await inDatabase(context, async (database) => {
    const { actor } = context
    await initialRoles(database, actor)
    // One of the initial roles, such as editor, exists already.
    await createRoleChanges(database, actor).add(role, { name: role, dataScope: '5' })
    const account = { username: name, roleKey: role, passwordHash: await hashPassword(password) }
    const result = await createAccountChanges(database, actor).add(account)
    if (typeof result === 'string') await refuse(result, { username: name, role }, database)
  })
}

/** The first account or role of a database needs them. Says what was created, for the start of a message. */
export async function initialRoles(database: Database, actor: Actor): Promise<string> {
  const created = await seedRoles(database, actor)
  return created.length === 0 ? '' : `created the initial roles ${created.join(', ')}; `
}

interface Made {
  readonly result: Changed | Unchanged
  /** What was done. */
  readonly message: string
  /** The role that it gives. */
  readonly role?: string
  /** What the document shows once. */
  readonly shown?: { readonly password?: string }
  /** Whether older tokens end with it; absent: yes. */
  readonly revokes?: boolean
}

/** Changes the configured database, whether or not a gateway has it open. Declines when nothing changed. */
function changeAccount<Done extends { readonly username: string; readonly newName?: string }>(
  done: Done,
  context: Context,
  make: (changes: ReturnType<typeof createAccountChanges>, database: Database) => Promise<Made>,
) {
  return inDatabase(context, async (database, { config }) => {
    const { actor, protectedRoles } = context
    const changes = createAccountChanges(database, actor, protectedRoles)
    const { result, message, role = '', shown = {}, revokes = true } = await make(changes, database)
    if (typeof result === 'string') return refuse(result, { ...done, role }, database)
    const stale = tokensOf(done.username, revokes ? result.userIds : [], message)
    return answerRevoked(stale, { config, database }, done, shown)
  })
}

function checkName(name: string): void {
  const problem = nameProblem(name)
  if (problem !== undefined) throw new UnusableValue(problem)
}

/** Says why nothing changed, and what to do. */
async function refuse(
  result: Unchanged,
  {
    username: name,
    newName = name,
    role,
  }: { readonly username: string; readonly newName?: string; readonly role: string },
  database: Database,
): Promise<never> {
  switch (result) {
    case 'protected-account':
      throw protectedAccount(name)
    case 'protected-role':
      throw new NotPermitted(`only an account with role admin may give the role ${role}`)
    case 'no-such-user':
      return declineUser(name, database)
    case 'no-such-role':
      return declineRole(role, database)
    case 'name-taken':
      return decline(`user ${newName} already exists: choose another name`)
    case 'service-account':
      return decline(`${name} is a service account: use the commands of "postern service"`)
    case 'last-admin':
      return decline(
        `${name} is the last enabled account with role admin: create or enable another admin first, or run again with --force`,
      )
  }
}
