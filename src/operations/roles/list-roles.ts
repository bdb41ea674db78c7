import { dataScopeName } from '../../kernel/data-scope.ts'
import { createRoleDirectory, type RoleSummary } from '../../stores/accounts/role-directory.ts'
import { inDatabase } from '../configured-database.ts'
import type { RunOf } from '../operation.ts'
import type { roleList } from './descriptions.ts'

/** Lists the roles. IDs are text, so that they are exact. */
export const run: RunOf<typeof roleList> = (_, context) =>
  inDatabase(context, async (database) => {
    const roles = await createRoleDirectory(database).list()
    return { document: roles.map((role) => withScopeName(role)) }
  })

/** Adds what the number means; null for a value that go-admin does not define. */
export function withScopeName<Role extends RoleSummary>(role: Role) {
  return { ...role, dataScopeName: dataScopeName(role.dataScope) ?? null }
}
