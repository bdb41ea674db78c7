import { configuredIssuers } from '../../config/issuers.ts'
import { Fault } from '../../kernel/errors.ts'
import type { Database } from '../../stores/database/database.ts'
import { createServiceTokens } from '../../stores/services/service-tokens.ts'
import { issuerSubject } from '../../token/issuers/issuer-names.ts'
import type { Revocation } from '../../token/revocations.ts'
import { revocationOf } from '../../token/tokens.ts'
import { withDatabase } from '../configured-database.ts'
import type { Context } from '../context.ts'
import { decline } from '../declined.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import { recordIfPossible } from '../record-if-reachable.ts'
import { noSuchUser } from '../unknown-name.ts'
import { type TokenSettings, tokenSettings } from './configured-keys.ts'
import type { tokenRevoke } from './descriptions.ts'
import { namedIssuer } from './foreign-token.ts'
import { inspectWithConfiguredKeys, readToken } from './read-token.ts'
import { revokeTokensOf, usersNamed, withRevocations } from './revoke-tokens.ts'

/** Revokes tokens on every gateway. */
export const run: RunOf<typeof tokenRevoke> = async ({ token, user, id, issuer }, context) => {
  const given = [token, user, id].filter((option) => option !== undefined)
  if (issuer !== undefined && (user === undefined || given.length > 1)) {
    throw wrong('--issuer needs --user, with the user ID as the issuer writes it, and nothing else')
  }
  if (given.length === 0) throw wrong('nothing to revoke: give --token, --id or --user')
  if (given.length > 1) throw wrong('--token, --id and --user cannot be combined')
  const settings = tokenSettings(context.configFile, context)
  if (token !== undefined) return revokeToken(await readToken(token, context), settings, context)
  if (id !== undefined) return revokeById(id, settings, context)
  if (issuer !== undefined) return revokeUserOfIssuer(issuer, user ?? '', settings, context)
  return revokeUser(user ?? '', settings, context)
}

function wrong(message: string): InvalidInput {
  return new InvalidInput(undefined, message)
}

const action = 'token.revoke'

async function revokeToken(text: string, settings: TokenSettings, context: Context) {
  const inspection = await inspectWithConfiguredKeys(text, settings)
  const token = inspection?.token
  if (inspection?.isUnverified) {
    const reason = `the token cannot be verified: ${inspection.problem}; "postern token revoke --issuer NAME --user ID" needs no keys`
    throw new Fault('issuer', { reason })
  }
  if (token === undefined) {
    return decline(`not a token of this gateway: ${inspection?.problem ?? 'not a JWT'}`)
  }
  const { id, caller, expiresAt } = token
  const document = { token: id, users: [caller.userId] }
  if (expiresAt * 1000 <= Date.now()) {
    return { document, notes: [`token ${id} of ${caller.username} has already expired`] }
  }
  return withDatabase(settings, async (database) => {
    await appendNow(revocationOf(token), settings, database)
    const change = { subject: `token ${id}`, after: { user: caller.userId } }
    const unrecorded = await recordIfPossible({ action, ...change }, database, context)
    return { document, notes: [...unrecorded, `revoked token ${id} of ${caller.username}`] }
  })
}

function appendNow(revocation: Revocation, { config }: TokenSettings, database: Database) {
  return withRevocations(config, database, (store) => store.append([revocation], 'before'))
}

/** Revokes the service token with this id, without its text. */
function revokeById(id: string, settings: TokenSettings, { actor }: Context) {
  return withDatabase(settings, async (database) => {
    const tokens = createServiceTokens(database, actor)
    const token = await tokens.find(id)
    if (token === undefined) {
      return decline(
        `no service token has ID ${JSON.stringify(id)}: "postern token list" shows all; for the login of a person, use "postern session end"`,
      )
    }
    const { userId, service, issuedAt, expiresAt: until } = token
    const document = { token: id, users: [userId] }
    if (until <= Date.now()) {
      return { document, notes: [`token ${id} of ${service} has already expired`] }
    }
    await appendNow({ kind: 'token', id, userId, issuedAt, until }, settings, database)
    await tokens.revoked(token)
    return { document, notes: [`revoked token ${id} of ${service}`] }
  })
}

function revokeUser(named: string, settings: TokenSettings, context: Context) {
  return withDatabase(settings, async (database) => {
    const users = await usersNamed(named, database)
    if (users.length === 0) {
      return decline(`${noSuchUser(named)}${ofOtherIssuer(named, settings.config)}`)
    }
    await revokeTokensOf(users, settings.config, database)
    const whom = `user ${users.join(' and ')}`
    const change = { subject: whom, after: { tokens: 'all' } }
    const unrecorded = await recordIfPossible({ action, ...change }, database, context)
    const done = `revoked all tokens of ${whom} issued until now`
    return { document: { users }, notes: [...unrecorded, done] }
  })
}

/** Logs show users of other issuers with the prefix of the issuer. */
function ofOtherIssuer(named: string, { issuers }: TokenSettings['config']): string {
  const found = configuredIssuers(issuers).find(
    ({ userIdPrefix: prefix }) => prefix !== '' && named.startsWith(prefix),
  )
  return found === undefined ? '' : `; for a user of that issuer, add --issuer ${found.name}`
}

/** Revokes every token that another issuer has given to this user, by the value of its claim, until now. */
function revokeUserOfIssuer(
  issuerName: string,
  user: string,
  settings: TokenSettings,
  context: Context,
) {
  const { name, issuer, claims, userIdPrefix } = namedIssuer(issuerName, settings.config)
  // Logs show the ID with its prefix. It may also be part of the ID: revoking too much is the lesser mistake.
  const hasPrefix = userIdPrefix !== '' && user.startsWith(userIdPrefix)
  const ids = [user, ...(hasPrefix ? [user.slice(userIdPrefix.length)] : [])]
  return withDatabase(settings, async (database) => {
    const subjects = ids.map((id) => issuerSubject(issuer, id))
    await revokeTokensOf(subjects, settings.config, database)
    const change = { subject: `user ${user} of issuer ${name}`, after: { tokens: 'all' } }
    const unrecorded = await recordIfPossible({ action, ...change }, database, context)
    const whose = `whose claim ${claims.userId} is ${ids.join(' or ')}`
    const done = `revoked all tokens of issuer ${name} ${whose}, issued until now`
    const users = ids.map((id) => `${userIdPrefix}${id}`)
    return { document: { issuer: name, users }, notes: [...unrecorded, done] }
  })
}
