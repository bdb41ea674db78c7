import { createPasswordHash } from '../../login/password-hash.ts'
import { changeAccount, initialRoles } from '../../operations/accounts/change-account.ts'
import { accountSettings, withDatabase } from '../../operations/configured-database.ts'
import { createRoleChanges } from '../../stores/accounts/role-changes.ts'
import type { Io } from '../io.ts'
import { operator } from '../operator.ts'
import type { FirstAccount } from './answers.ts'

/** Creates the role and the account in the database of the configuration, as the commands do. */
export async function createAccount(
  { name, password }: FirstAccount,
  role: string,
  io: Io,
): Promise<void> {
  await withDatabase(accountSettings('postern.yaml', io), async (database) => {
    const actor = operator(io)
    await initialRoles(database, actor)
    // One of the initial roles, such as editor, exists already.
    await createRoleChanges(database, actor).add(role, { name: role, dataScope: '5' })
    const { protectedRoles = [] } = io
    const passwordHash = await createPasswordHash({ concurrency: 1, queue: 0 }).hash(password)
    await changeAccount(
      { verb: 'add', name, role },
      { database, actor, passwordHash, protectedRoles },
    )
  })
}
