import { createRoleDirectory } from '../../stores/accounts/role-directory.ts'
import type { Database } from '../../stores/database/database.ts'
import { inDatabase } from '../configured-database.ts'
import { decline } from '../declined.ts'
import type { RunOf } from '../operation.ts'
import { noSuchRole } from '../unknown-name.ts'
import type { roleShow } from './descriptions.ts'
import { withScopeName } from './list-roles.ts'

/** Shows the role that accounts get by this key, and which others have the same key. */
export const run: RunOf<typeof roleShow> = ({ key }, context) =>
  inDatabase(context, async (database) => {
    const [role, ...others] = await createRoleDirectory(database).show(key)
    if (role === undefined) return declineRole(key, database)
    const sameKey = others.map(({ roleId }) => roleId)
    return { document: { ...withScopeName(role), sameKey } }
  })

/** Says that no role has this key, and which one may be meant. */
export async function declineRole(key: string, database: Database): Promise<never> {
  const roles = await createRoleDirectory(database).list()
  const keys = roles.map(({ roleKey }) => roleKey)
  return decline(noSuchRole(key, keys))
}
