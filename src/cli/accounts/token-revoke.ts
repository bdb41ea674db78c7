import { createAccountChanges } from '../../stores/accounts/account-changes.ts'
import { endingOf } from '../../token/tokens.ts'
import { json, policyCommand } from '../command.ts'
import type { Io } from '../io.ts'
import { printable } from '../table.ts'
import { endTokensOf, withRevocations } from './revoke-tokens.ts'
import {
  inspectOurs,
  readToken,
  type TokenConfig,
  tokenConfig,
  withDatabase,
} from './token-command.ts'

const help = `usage: postern token revoke --token TOKEN|- [--output text|json] [--config FILE]
       postern token revoke --user NAME|ID [--output text|json] [--config FILE]

Ends one token, or every token that a user has now, before they expire. Every gateway refuses them
within a second, and closes what they have open within 30. The user can log in again at once; to
keep somebody out, disable the account.

  postern token revoke --token - < token.txt     the token stays out of the shell's history
  postern token revoke --user alice
  postern token revoke --user 42                 by user ID, also when the account is gone

Exit codes: 0 ended, 1 it is no token of ours, there is no such user, or a store is away, 2 bad
arguments.
`

/** Ends tokens early, on every gateway. */
export const tokenRevoke = policyCommand(
  {
    help,
    options: { token: { type: 'string' }, user: { type: 'string' } },
    positionals: [0, 0],
  },
  async ({ values, output }, io) => {
    const { token, user } = values
    if ((token === undefined) === (user === undefined)) {
      io.err(help)
      return 2
    }
    const settings = tokenConfig(values.config, io)
    const ended =
      token === undefined
        ? await revokeUser(user ?? '', settings, io)
        : await revokeToken(await readToken(token, io), settings, io)
    if (ended === undefined) return 1
    if (output === 'json') io.out(json(ended))
    return 0
  },
)

interface Ended {
  readonly token?: string
  readonly users: readonly string[]
}

async function revokeToken(
  text: string,
  settings: TokenConfig,
  io: Io,
): Promise<Ended | undefined> {
  const inspection = await inspectOurs(text, settings)
  const token = inspection?.token
  if (token === undefined) {
    io.err(`postern: not a token of ours: ${inspection?.problem ?? 'it is no token at all'}\n`)
    return undefined
  }
  const { id, caller, expiresAt } = token
  const username = printable(caller.username)
  const users = [caller.userId]
  if (expiresAt * 1000 <= Date.now()) {
    io.err(`postern: token ${id} of ${username} has expired already\n`)
    return { token: id, users }
  }
  await withDatabase(settings, (database) =>
    withRevocations(settings.config, database, (store) =>
      store.append([endingOf(token)], 'before'),
    ),
  )
  io.err(`postern: token ${id} of ${username} has ended\n`)
  return { token: id, users }
}

async function revokeUser(
  named: string,
  settings: TokenConfig,
  io: Io,
): Promise<Ended | undefined> {
  return withDatabase(settings, async (database) => {
    const byName = await createAccountChanges(database).idsOf(named)
    const isId = /^(?:0|[1-9]\d{0,18})$/.test(named)
    if (byName.length === 0 && !isId) {
      io.err(`postern: no such user: ${JSON.stringify(named)}\n`)
      return undefined
    }
    // A name of digits may also be meant as an ID: to end too much is the lesser mistake.
    const users = [...new Set([...byName, ...(isId ? [named] : [])])]
    await endTokensOf(users, settings.config, database)
    io.err(`postern: every token of user ${users.join(' and ')} until now has ended\n`)
    return { users }
  })
}
