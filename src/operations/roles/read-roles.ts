import { dataScopeName } from '../../kernel/data-scope.ts'
import { createRoleDirectory, type RoleSummary } from '../../stores/accounts/role-directory.ts'
import type { Database } from '../../stores/database/database.ts'
import { inDatabase } from '../configured-database.ts'
import { decline } from '../declined.ts'
import type { RunOf } from '../operation.ts'
import { noSuchRole } from '../unknown-name.ts'
import type * as described from './descriptions.ts'

/** Lists the roles. IDs are text, so that they are exact. */
export const roleList: RunOf<typeof described.roleList> = (_, context) =>
  inDatabase(context, async (database) => {
    const roles = await createRoleDirectory(database).list()
    return { document: roles.map((role) => withScopeName(role)) }
  })

/** Adds what the number means; null for a value that go-admin does not define. */
function withScopeName<Role extends RoleSummary>(role: Role) {
  return { ...role, dataScopeName: dataScopeName(role.dataScope) ?? null }
}

/** Shows the role that accounts get by this key, and which others have the same key. */
export const roleShow: RunOf<typeof described.roleShow> = ({ key }, context) =>
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
