import { dataScopeInWords, dataScopes } from '../../kernel/data-scope.ts'
import type { DocumentOf } from '../../operations/operation.ts'
import type { roleList, roleShow } from '../../operations/roles/descriptions.ts'
import { formatTable } from '../format.ts'
import type { ViewOf } from '../view.ts'

type Role = DocumentOf<typeof roleShow>

export const roleListView: ViewOf<typeof roleList> = {
  text({ document }) {
    const rows = document.map(({ roleKey, name, dataScope, users, services }) => {
      return [roleKey, name, dataScopeInWords(dataScope), usersInWords(users), `${services}`]
    })
    return formatTable([['KEY', 'NAME', 'DATA SCOPE', 'USERS', 'SERVICES'], ...rows])
  },
}

export const roleShowView: ViewOf<typeof roleShow> = {
  text: ({ document }) =>
    formatTable([...rowsOf(document), ...document.sameKey.map((id) => ['same key', `role ${id}`])]),
}

function rowsOf(role: Role): readonly (readonly string[])[] {
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

/** `2`, or `2 (and 1 disabled)`. */
function usersInWords({ enabled, disabled }: Role['users']): string {
  return disabled === 0 ? `${enabled}` : `${enabled} (and ${disabled} disabled)`
}

const shownNames = 20

function namesOf(kind: 'user' | 'service', { accounts, users, services }: Role): string {
  const names = accounts.filter((account) => account.kind === kind).map(({ username }) => username)
  if (names.length === 0) return ''
  const all = kind === 'user' ? users.enabled + users.disabled : services
  const shown = names.slice(0, shownNames)
  return `: ${shown.join(', ')}${all > shown.length ? `, and ${all - shown.length} more` : ''}`
}
