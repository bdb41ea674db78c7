import { configuredIssuers } from '../../config/issuers.ts'
import { Fault } from '../../kernel/errors.ts'
import { withDatabase } from '../../operations/configured-database.ts'
import { type TokenSettings, tokenSettings } from '../../operations/tokens/configured-keys.ts'
import {
  revokeTokensOf,
  usersNamed,
  withRevocations,
} from '../../operations/tokens/revoke-tokens.ts'
import { revocationOf } from '../../token/tokens.ts'
import { type Run, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { json, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { recordIfPossible } from '../record-if-reachable.ts'
import type { revokeSpec } from './specs.ts'
import { inspectWithConfiguredKeys, readToken } from './token-command.ts'
import { revokeById } from './token-revoke-id.ts'
import { revokeUserOfIssuer } from './token-revoke-issuer.ts'

/** Revokes tokens on every gateway. */
export const tokenRevoke: Run<typeof revokeSpec> = async ({ options }, io) => {
  const { token, user, id, issuer } = options
  if (issuer !== undefined) {
    return revokeUserOfIssuer({ ...options, issuer, others: [token, id] }, io)
  }
  const given = [token, user, id].filter((option) => option !== undefined)
  if (given.length === 0) throw new UsageError('nothing to revoke: give --token, --id or --user')
  if (given.length > 1) throw new UsageError('--token, --id and --user cannot be combined')
  const settings = tokenSettings(options.config, io)
  const revoked =
    token !== undefined
      ? await revokeToken(await readToken(token, io), settings, io)
      : id !== undefined
        ? await revokeById(id, settings, io)
        : await revokeUser(user ?? '', settings, io)
  if (revoked === undefined) return exitCodes.no
  if (options.output === 'json') io.out(json(revoked))
  return 0
}

interface Revoked {
  readonly token?: string
  readonly users: readonly string[]
}

async function revokeToken(
  text: string,
  settings: TokenSettings,
  io: Io,
): Promise<Revoked | undefined> {
  const inspection = await inspectWithConfiguredKeys(text, settings)
  const token = inspection?.token
  if (inspection?.isUnverified) {
    const reason = `the token cannot be verified: ${inspection.problem}; "postern token revoke --issuer NAME --user ID" needs no keys`
    throw new Fault('issuer', { reason })
  }
  if (token === undefined) {
    io.err(`postern: not a token of this gateway: ${inspection?.problem ?? 'not a JWT'}\n`)
    return undefined
  }
  const { id, caller, expiresAt } = token
  const username = printable(caller.username)
  const users = [caller.userId]
  if (expiresAt * 1000 <= Date.now()) {
    io.err(`postern: token ${id} of ${username} has already expired\n`)
    return { token: id, users }
  }
  await withDatabase(settings, async (database) => {
    await withRevocations(settings.config, database, (store) =>
      store.append([revocationOf(token)], 'before'),
    )
    const subject = `token ${id}`
    const after = { user: caller.userId }
    await recordIfPossible({ action: 'token.revoke', subject, after }, database, io)
  })
  io.err(`postern: revoked token ${id} of ${username}\n`)
  return { token: id, users }
}

async function revokeUser(
  named: string,
  settings: TokenSettings,
  io: Io,
): Promise<Revoked | undefined> {
  return withDatabase(settings, async (database) => {
    const users = await usersNamed(named, database)
    if (users.length === 0) {
      const hint = ofOtherIssuer(named, settings.config)
      io.err(
        `postern: user ${JSON.stringify(named)} does not exist: "postern user list" shows all users${hint}\n`,
      )
      return undefined
    }
    await revokeTokensOf(users, settings.config, database)
    const subject = `user ${users.join(' and ')}`
    const after = { tokens: 'all' }
    await recordIfPossible({ action: 'token.revoke', subject, after }, database, io)
    io.err(`postern: revoked all tokens of user ${users.join(' and ')} issued until now\n`)
    return { users }
  })
}

/** Logs show users of other issuers with the prefix of the issuer. */
function ofOtherIssuer(named: string, { issuers }: TokenSettings['config']): string {
  const found = configuredIssuers(issuers).find(
    ({ userIdPrefix: prefix }) => prefix !== '' && named.startsWith(prefix),
  )
  return found === undefined ? '' : `; for a user of that issuer, add --issuer ${found.name}`
}
