import { withDatabase } from '../../operations/configured-database.ts'
import { tokenSettings } from '../../operations/tokens/configured-keys.ts'
import { revokeTokensOf } from '../../operations/tokens/revoke-tokens.ts'
import { issuerSubject } from '../../token/issuers/issuer-names.ts'
import { UsageError } from '../command.ts'
import { json, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { recordIfPossible } from '../record-if-reachable.ts'
import { namedIssuer } from './foreign-token.ts'

interface IssuerUserOptions {
  readonly issuer: string
  /** As the issuer writes it: the value of the claim. */
  readonly user: string | undefined
  readonly others: readonly (string | undefined)[]
  readonly output: string
  readonly config: string | undefined
}

/** Revokes every token that another issuer has given to a user until now, on every gateway. */
export async function revokeUserOfIssuer(options: IssuerUserOptions, io: Io): Promise<number> {
  const { user, others } = options
  if (user === undefined || others.some((option) => option !== undefined)) {
    throw new UsageError(
      '--issuer needs --user, with the user ID as the issuer writes it, and nothing else',
    )
  }
  const settings = tokenSettings(options.config, io)
  const { name, issuer, claims, userIdPrefix } = namedIssuer(options.issuer, settings.config)
  // Logs show the ID with its prefix. It may also be part of the ID: revoking too much is the lesser mistake.
  const hasPrefix = userIdPrefix !== '' && user.startsWith(userIdPrefix)
  const ids = [user, ...(hasPrefix ? [user.slice(userIdPrefix.length)] : [])]
  await withDatabase(settings, async (database) => {
    const subjects = ids.map((id) => issuerSubject(issuer, id))
    await revokeTokensOf(subjects, settings.config, database)
    const subject = `user ${user} of issuer ${name}`
    const after = { tokens: 'all' }
    await recordIfPossible({ action: 'token.revoke', subject, after }, database, io)
  })
  io.err(
    `postern: revoked all tokens of issuer ${name} whose claim ${claims.userId} is ${printable(ids.join(' or '))}, issued until now\n`,
  )
  if (options.output === 'json')
    io.out(json({ issuer: name, users: ids.map((id) => `${userIdPrefix}${id}`) }))
  return 0
}
