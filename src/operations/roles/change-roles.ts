import { count } from '../../kernel/count.ts'
import { dataScopeInWords } from '../../kernel/data-scope.ts'
import { createRoleChanges, type RoleValues } from '../../stores/accounts/role-changes.ts'
import { createRoleDirectory } from '../../stores/accounts/role-directory.ts'
import type { Database } from '../../stores/database/database.ts'
import { initialRoles } from '../accounts/change-accounts.ts'
import { inDatabase } from '../configured-database.ts'
import { decline } from '../declined.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import { answerRevoked } from '../tokens/revoke-tokens.ts'
import type * as described from './descriptions.ts'
import { declineRole } from './read-roles.ts'
import { checkKey, checkName, dataScopeOption } from './role-text.ts'

export const roleAdd: RunOf<typeof described.roleAdd> = async (
  { key, name, ...input },
  context,
) => {
  const dataScope = dataScopeOption(input['data-scope'])
  checkKey(key)
  checkName(name)
  return inDatabase(context, async (database) => {
    const { actor } = context
    const first = await initialRoles(database, actor)
    const added = await createRoleChanges(database, actor).add(key, { name, dataScope })
    if (added === 'key-taken') {
      decline(`${first}role ${key} already exists: change it with "postern role set ${key}"`)
    }
    const created = `created role ${key} with data scope ${dataScopeInWords(dataScope)}`
    return {
      document: { done: 'add', roleKey: key, name, dataScope },
      notes: [`${first}${created}; it has no permissions until the policy grants some`],
    }
  })
}

export const roleSet: RunOf<typeof described.roleSet> = async (
  { key, name, ...input },
  context,
) => {
  const scope = input['data-scope']
  if (name === undefined && scope === undefined) {
    throw new InvalidInput(undefined, 'nothing to change: give --name, --data-scope or both')
  }
  if (name !== undefined) checkName(name)
  const values: Partial<RoleValues> = {
    ...(name !== undefined && { name }),
    ...(scope !== undefined && { dataScope: dataScopeOption(scope) }),
  }
  return inDatabase(context, async (database, { config }) => {
    const changed = await createRoleChanges(database, context.actor).set(key, values)
    if (changed === 'no-such-role') return declineRole(key, database)
    const { dataScope } = values
    const now = [
      ...(name === undefined ? [] : [`name ${name}`]),
      ...(dataScope === undefined ? [] : [`data scope ${dataScopeInWords(dataScope)}`]),
    ]
    const message = `role ${key} now has ${now.join(' and ')}`
    const stale = staleTokens(changed.userIds, message, 'run this command again')
    return answerRevoked(stale, { config, database }, { done: 'set', roleKey: key, ...values })
  })
}

export const roleRemove: RunOf<typeof described.roleRemove> = ({ key }, context) =>
  inDatabase(context, async (database, { config }) => {
    const removed = await createRoleChanges(database, context.actor).remove(key)
    if (removed === 'no-such-role') return declineRole(key, database)
    if (removed === 'in-use') return decline(await inUse(key, database))
    const ids = removed.userIds.slice(0, 20).join(', ')
    const next = `run "postern token revoke --user ID" for the deleted accounts with ID ${ids}`
    const stale = staleTokens(removed.userIds, `removed role ${key}`, next)
    return answerRevoked(stale, { config, database }, { done: 'remove', roleKey: key })
  })

/** Tokens that carry the old role. */
function staleTokens(userIds: readonly string[], message: string, next: string) {
  const revoked = `the tokens of ${count(userIds.length, 'user')}`
  const failed = { still: 'the tokens with the old role are still valid', next }
  return { userIds, message, revoked, failed }
}

async function inUse(key: string, database: Database): Promise<string> {
  const roles = await createRoleDirectory(database).show(key)
  const all = roles.reduce((sum, { users, services }) => {
    return sum + users.enabled + users.disabled + services
  }, 0)
  const accounts = roles.flatMap((role) => role.accounts).slice(0, 5)
  const more = all > accounts.length ? ', …' : ''
  const names = `${accounts.map(({ username }) => username).join(', ')}${more}`
  const [first] = accounts
  const example = `postern ${first?.kind ?? 'user'} role ${first?.username ?? 'NAME'} ROLE`
  return `role ${key} is in use by ${count(all, 'account')} (${names}): give each another role first, as in "${example}"`
}
