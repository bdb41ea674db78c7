import { dataScopeInWords } from '../../kernel/data-scope.ts'
import { initialRoles } from '../../operations/accounts/change-account.ts'
import {
  type AccountSettings,
  accountSettings,
  withDatabase,
} from '../../operations/configured-database.ts'
import { decline } from '../../operations/declined.ts'
import { revocationProblem } from '../../operations/tokens/revoke-tokens.ts'
import { noSuchRole } from '../../operations/unknown-name.ts'
import { createRoleChanges, type RoleValues } from '../../stores/accounts/role-changes.ts'
import { createRoleDirectory } from '../../stores/accounts/role-directory.ts'
import type { Database } from '../../stores/database/database.ts'
import { type Run, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, json, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { operator } from '../operator.ts'
import { checkKey, checkName, dataScopeOption } from './role-text.ts'
import type { addSpec, removeSpec, setSpec } from './specs.ts'

export const roleAdd: Run<typeof addSpec> = async ({ arguments: [key], options }, io) => {
  const { name } = options
  const dataScope = dataScopeOption(options['data-scope'])
  checkKey(key)
  checkName(name)
  return withDatabase(accountSettings(options.config, io), async (database) => {
    const actor = operator(io)
    const first = await initialRoles(database, actor)
    const added = await createRoleChanges(database, actor).add(key, { name, dataScope })
    if (added === 'key-taken') {
      decline(`${first}role ${key} already exists: change it with "postern role set ${key}"`)
    }
    const created = `created role ${key} with data scope ${dataScopeInWords(dataScope)}`
    say(`${first}${created}; it has no permissions until the policy grants some`, io)
    if (options.output === 'json') io.out(json({ done: 'add', roleKey: key, name, dataScope }))
    return 0
  })
}

export const roleSet: Run<typeof setSpec> = async ({ arguments: [key], options }, io) => {
  const { name, 'data-scope': scope } = options
  if (name === undefined && scope === undefined) {
    throw new UsageError('nothing to change: give --name, --data-scope or both')
  }
  if (name !== undefined) checkName(name)
  const values: Partial<RoleValues> = {
    ...(name !== undefined && { name }),
    ...(scope !== undefined && { dataScope: dataScopeOption(scope) }),
  }
  const settings = accountSettings(options.config, io)
  return withDatabase(settings, async (database) => {
    const changed = await createRoleChanges(database, operator(io)).set(key, values)
    if (changed === 'no-such-role') return decline(await unknown(key, database))
    const now = [
      ...(name === undefined ? [] : [`name ${name}`]),
      ...(values.dataScope === undefined
        ? []
        : [`data scope ${dataScopeInWords(values.dataScope)}`]),
    ]
    const message = `role ${key} now has ${now.join(' and ')}`
    return revoke(
      { message, again: 'run this command again', ...changed },
      {
        ...{ settings, database, io, isJson: options.output === 'json' },
        document: { done: 'set', roleKey: key, ...values },
      },
    )
  })
}

export const roleRemove: Run<typeof removeSpec> = async ({ arguments: [key], options }, io) => {
  const settings = accountSettings(options.config, io)
  return withDatabase(settings, async (database) => {
    const removed = await createRoleChanges(database, operator(io)).remove(key)
    if (removed === 'no-such-role') return decline(await unknown(key, database))
    if (removed === 'in-use') return decline(await inUse(key, database))
    const ids = removed.userIds.slice(0, 20).join(', ')
    const again = `run "postern token revoke --user ID" for the deleted accounts with ID ${ids}`
    return revoke(
      { message: `removed role ${key}`, again, ...removed },
      {
        ...{ settings, database, io, isJson: options.output === 'json' },
        document: { done: 'remove', roleKey: key },
      },
    )
  })
}

interface Change {
  readonly message: string
  readonly userIds: readonly string[]
  /** What to do when the tokens cannot be revoked now. */
  readonly again: string
}

interface Parts {
  readonly settings: AccountSettings
  readonly database: Database
  readonly io: Io
  readonly isJson: boolean
  readonly document: Readonly<Record<string, unknown>>
}

/** Revokes the tokens that carry the old role, and reports the change, which is already made. */
async function revoke(
  { message, userIds, again }: Change,
  { settings, database, io, isJson, document }: Parts,
): Promise<number> {
  const problem = await revocationProblem(userIds, settings.config, database)
  const tokensEnded = userIds.length > 0 && problem === undefined
  const revoked = `; revoked the tokens of ${count(userIds.length, 'user')}`
  say(`${message}${tokensEnded ? revoked : ''}`, io)
  if (isJson) io.out(json({ ...document, tokensEnded }))
  if (problem === undefined) return 0
  say(`the tokens with the old role are still valid: ${problem}; once that is fixed, ${again}`, io)
  return exitCodes.unavailable
}

async function unknown(key: string, database: Database): Promise<string> {
  const roles = await createRoleDirectory(database).list()
  return noSuchRole(
    key,
    roles.map(({ roleKey }) => roleKey),
  )
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

function say(message: string, io: Io): void {
  io.err(`${printable(`postern: ${message}`)}\n`)
}
