import { dataScopeInWords, dataScopeName } from '../../data-scope.ts'
import { accountSettings, withDatabase } from '../../operations/configured-database.ts'
import { createRoleDirectory, type RoleSummary } from '../../stores/accounts/role-directory.ts'
import type { Run } from '../command.ts'
import { formatTable, json } from '../format.ts'
import { usersInWords } from './role-text.ts'
import type { listSpec } from './specs.ts'

/** Lists the roles as a table or as one JSON document. IDs are text, so that they are exact. */
export const roleList: Run<typeof listSpec> = async ({ options }, io) => {
  const roles = await withDatabase(accountSettings(options.config, io), (database) =>
    createRoleDirectory(database).list(),
  )
  if (options.output === 'json') {
    io.out(json(roles.map((role) => withScopeName(role))))
    return 0
  }
  const rows = roles.map(({ roleKey, name, dataScope, users, services }) => {
    return [roleKey, name, dataScopeInWords(dataScope), usersInWords(users), `${services}`]
  })
  io.out(formatTable([['KEY', 'NAME', 'DATA SCOPE', 'USERS', 'SERVICES'], ...rows]))
  return 0
}

/** Adds what the number means; null for a value that go-admin does not define. */
export function withScopeName<Role extends RoleSummary>(role: Role) {
  return { ...role, dataScopeName: dataScopeName(role.dataScope) ?? null }
}
