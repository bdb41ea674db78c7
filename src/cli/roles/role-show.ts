import { dataScopeInWords, dataScopes } from '../../data-scope.ts'
import { accountSettings, withDatabase } from '../../operations/configured-database.ts'
import { decline } from '../../operations/declined.ts'
import { noSuchRole } from '../../operations/unknown-name.ts'
import { createRoleDirectory, type RoleDetails } from '../../stores/accounts/role-directory.ts'
import type { Run } from '../command.ts'
import { formatTable, json } from '../format.ts'
import { withScopeName } from './role-list.ts'
import { usersInWords } from './role-text.ts'
import type { showSpec } from './specs.ts'

/** Shows the role that accounts get by this key, and which others have the same key. */
export const roleShow: Run<typeof showSpec> = async ({ arguments: [key], options }, io) => {
  const settings = accountSettings(options.config, io)
  const [role, others] = await withDatabase(settings, async (database) => {
    const { list, show } = createRoleDirectory(database)
    const [first, ...rest] = await show(key)
    if (first !== undefined) return [first, rest]
    const keys = (await list()).map(({ roleKey }) => roleKey)
    return decline(noSuchRole(key, keys))
  })
  const otherIds = others.map(({ roleId }) => roleId)
  if (options.output === 'json') io.out(json({ ...withScopeName(role), sameKey: otherIds }))
  else io.out(formatTable([...rows(role), ...otherIds.map((id) => ['same key', `role ${id}`])]))
  return 0
}

function rows(role: RoleDetails): readonly (readonly string[])[] {
  const { roleKey, roleId, name, dataScope, users, services, createdAt, updatedAt } = role
  const meaning = dataScopes.find(({ number }) => number === dataScope)?.meaning
  return [
    ['key', roleKey],
    ['id', roleId],
    ['name', name],
    ['data scope', `${dataScopeInWords(dataScope)}${meaning === undefined ? '' : `: ${meaning}`}`],
    ['users', `${usersInWords(users)}${namesOf('user', role)}`],
    ['services', `${services}${namesOf('service', role)}`],
    ['created', createdAt ?? 'unknown'],
    ['updated', updatedAt ?? 'unknown'],
  ]
}

const shownNames = 20

function namesOf(kind: 'user' | 'service', { accounts, users, services }: RoleDetails): string {
  const names = accounts.filter((account) => account.kind === kind).map(({ username }) => username)
  if (names.length === 0) return ''
  const all = kind === 'user' ? users.enabled + users.disabled : services
  const shown = names.slice(0, shownNames)
  return `: ${shown.join(', ')}${all > shown.length ? `, and ${all - shown.length} more` : ''}`
}
