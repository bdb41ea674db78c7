import { withDatabase } from '../../operations/configured-database.ts'
import { decline } from '../../operations/declined.ts'
import type { TokenSettings } from '../../operations/tokens/configured-keys.ts'
import { withRevocations } from '../../operations/tokens/revoke-tokens.ts'
import { createServiceTokens } from '../../stores/services/service-tokens.ts'
import { printable } from '../format.ts'
import type { Io } from '../io.ts'
import { operator } from '../operator.ts'

/** Revokes the service token with this id, without its text. */
export async function revokeById(id: string, { config, ...settings }: TokenSettings, io: Io) {
  return withDatabase({ config, ...settings }, async (database) => {
    const tokens = createServiceTokens(database, operator(io))
    const token = await tokens.find(id)
    if (token === undefined) {
      decline(
        `no service token has ID ${JSON.stringify(id)}: "postern token list" shows all; for the login of a person, use "postern session end"`,
      )
    }
    const { userId, issuedAt, expiresAt: until } = token
    const service = printable(token.service)
    const revoked = { token: id, users: [userId] }
    if (until <= Date.now()) {
      io.err(`postern: token ${id} of ${service} has already expired\n`)
      return revoked
    }
    await withRevocations(config, database, (store) =>
      store.append([{ kind: 'token', id, userId, issuedAt, until }], 'before'),
    )
    await tokens.revoked(token)
    io.err(`postern: revoked token ${id} of ${service}\n`)
    return revoked
  })
}
