import { databaseClock } from '../../stores/database/database-clock.ts'
import { createServiceDirectory } from '../../stores/services/service-directory.ts'
import { createServiceTokens } from '../../stores/services/service-tokens.ts'
import { createRevocations } from '../../token/revocations.ts'
import { issueServiceToken } from '../../token/service-token.ts'
import { withDatabase } from '../configured-database.ts'
import { decline } from '../declined.ts'
import { durationMs, formatDuration } from '../duration.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import { configuredKeys, type TokenSettings, tokenSettings } from '../tokens/configured-keys.ts'
import { readRevocations } from '../tokens/revoke-tokens.ts'
import type { tokenIssue } from './descriptions.ts'
import { checkNote, declineService } from './refusals.ts'

/** Issues a token to a service account. */
export const run: RunOf<typeof tokenIssue> = async ({ name, expires, note = '' }, context) => {
  checkNote(note)
  const settings = tokenSettings(context.configFile, context)
  const lifetimeSeconds = lifetimeOf(expires, settings)
  const keys = await configuredKeys(settings)
  const { actor } = context
  const { service, signed } = await withDatabase(settings, async (database) => {
    // A token dated ahead of the stores would outlive a revocation of its account.
    const clock = await databaseClock(database)
    // Before the account: a role that changes in between revokes the new token.
    const revocations = createRevocations(clock)
    await readRevocations(revocations, settings, (_, work) => work(database))
    const readAt = clock()
    const caller = await createServiceDirectory(database).callerOf(name)
    if (caller === 'no-such-service') return declineService(name, database)
    if (caller === 'no-role') {
      decline(`the role of ${name} does not exist: give it another one with "postern service role"`)
    }
    const parts = { keys, revocations, caller, readAt, lifetimeSeconds }
    const { token, ...issued } = await issueServiceToken(parts)
    const { userId, roleKey } = caller
    const expiresAt = issued.expiresAt.getTime()
    const record = { ...issued, expiresAt, userId, roleKey, note, issuedBy: actor.name }
    await createServiceTokens(database, actor).add(record, name)
    return { service: { userId, roleKey }, signed: { token, ...issued } }
  })
  const { userId, roleKey: role } = service
  const { token, id, kid } = signed
  const issuedAt = new Date(signed.issuedAt).toISOString()
  const expiresAt = signed.expiresAt.toISOString()
  return {
    document: {
      ...{ id, service: name, userId, role, note, kid: kid ?? null, issuedAt, expiresAt, token },
    },
    notes: [`issued token ${id} to ${name} (role ${role}), expires ${expiresAt}; it is shown once`],
  }
}

/** The lifetime in seconds. Throws unless the configuration allows it. */
function lifetimeOf(expires: string, { config }: TokenSettings): number {
  const ms = durationMs('expires', expires)
  if (ms < 1000) throw new InvalidInput('expires', 'give at least one second')
  const { enabled, maxLifetime } = config.tokens.service
  if (!enabled) {
    decline('service tokens are off: set tokens.service.enabled to true, here and on every gateway')
  }
  if (ms > maxLifetime * 1000) {
    decline(
      `--expires ${expires} is longer than tokens.service.maxLifetime allows: use at most ${formatDuration(maxLifetime * 1000)}`,
    )
  }
  return ms / 1000
}
