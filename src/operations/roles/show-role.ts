import { createRoleDirectory } from '../../stores/accounts/role-directory.ts'
import { accountSettings, withDatabase } from '../configured-database.ts'
import { decline } from '../declined.ts'
import type { RunOf } from '../operation.ts'
import { noSuchRole } from '../unknown-name.ts'
import type { roleShow } from './descriptions.ts'
import { withScopeName } from './list-roles.ts'

/** Shows the role that accounts get by this key, and which others have the same key. */
export const run: RunOf<typeof roleShow> = ({ key }, context) =>
  withDatabase(accountSettings(context.configFile, context), async (database) => {
    const { list, show } = createRoleDirectory(database)
    const [role, ...others] = await show(key)
    if (role === undefined) {
      const keys = (await list()).map(({ roleKey }) => roleKey)
      return decline(noSuchRole(key, keys))
    }
    const sameKey = others.map(({ roleId }) => roleId)
    return { document: { ...withScopeName(role), sameKey } }
  })
