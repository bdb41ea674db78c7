import { accountSettings, withDatabase } from '../configured-database.ts'
import type { Context } from '../context.ts'
import { revocationProblem } from '../tokens/revoke-tokens.ts'
import { stillValid } from '../tokens/still-valid.ts'
import { type Change, changeAccount } from './change-account.ts'

/**
 * Changes an account in the configured database, whether or not a gateway has it open, and revokes its
 * tokens. A revocation that failed is a part of the answer: the account is changed all the same.
 */
export function changeConfigured(wanted: Change, context: Context, passwordHash = '') {
  const settings = accountSettings(context.configFile, context)
  return withDatabase(settings, async (database) => {
    const { actor, protectedRoles = [] } = context
    const parts = { database, actor, protectedRoles, passwordHash }
    const { message, revokeTokensOf } = await changeAccount(wanted, parts)
    const problem = await revocationProblem(revokeTokensOf, settings.config, database)
    const tokensEnded = revokeTokensOf.length > 0 && problem === undefined
    const renamed = wanted.verb === 'rename' ? { newName: wanted.newName } : {}
    const document = { done: wanted.verb, username: wanted.name, ...renamed, tokensEnded }
    const notes = [`${message}${tokensEnded ? '; revoked all tokens issued until now' : ''}`]
    if (problem === undefined) return { document, notes }
    notes.push(stillValid(wanted.name, revokeTokensOf, problem))
    return { document, notes, outcome: 'unavailable' as const }
  })
}
