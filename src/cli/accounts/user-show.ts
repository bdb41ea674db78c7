import { dataScopeInWords, dataScopeName } from '../../data-scope.ts'
import type { AccountDetails } from '../../stores/accounts/account-directory.ts'
import type { Run } from '../command.ts'
import { accountSettings } from '../configured-database.ts'
import { formatTable, json } from '../format.ts'
import { accountsNamed } from './accounts-named.ts'
import { lockoutOf } from './lockout.ts'
import type { showSpec } from './specs.ts'
import { statusInWords } from './user-list.ts'

/** Shows the account that login would choose, and which others have the same name. */
export const userShow: Run<typeof showSpec> = async ({ arguments: [name], options }, io) => {
  const [account, ...others] = await accountsNamed(name, accountSettings(options.config, io))
  const lockedOutSeconds = await lockoutOf(name, options.config, io)
  const sameName = others.map(({ userId }) => userId)
  if (options.output === 'json') {
    const scope = dataScopeName(account.dataScope) ?? null
    const known = { dataScopeName: scope, lockedOutSeconds: lockedOutSeconds ?? null, sameName }
    io.out(json({ ...account, ...known }))
    return 0
  }
  const twins = sameName.map((id) => ['same name', `user with ID ${id}`])
  io.out(formatTable([...rows(account, lockedOutSeconds), ...twins]))
  return 0
}

function rows(account: AccountDetails, lockedOutSeconds: number | undefined) {
  const { userId, username, kind, roleKey, roleName, dataScope } = account
  return [
    ['id', userId],
    ['name', username],
    ['kind', kind],
    ['role', roleKey === '' ? 'none: login refuses this account' : `${roleKey} (${roleName})`],
    ['data scope', dataScopeInWords(dataScope)],
    ['status', statusInWords(account)],
    ...(lockedOutSeconds === undefined ? [] : [['locked out', lockout(lockedOutSeconds)]]),
    ['created', account.createdAt ?? 'unknown'],
    ['updated', account.updatedAt ?? 'unknown'],
  ]
}

function lockout(seconds: number): string {
  return seconds === 0 ? 'no' : `for ${seconds} s, after wrong passwords`
}
