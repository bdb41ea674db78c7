import { withDatabase } from '../../operations/configured-database.ts'
import { decline } from '../../operations/declined.ts'
import { durationMs } from '../../operations/duration.ts'
import { declineService } from '../../operations/services/unknown-names.ts'
import {
  configuredKeys,
  type TokenSettings,
  tokenSettings,
} from '../../operations/tokens/configured-keys.ts'
import { readRevocations } from '../../operations/tokens/revoke-tokens.ts'
import { databaseClock } from '../../stores/database/database-clock.ts'
import { createServiceDirectory } from '../../stores/services/service-directory.ts'
import { createServiceTokens } from '../../stores/services/service-tokens.ts'
import { createRevocations } from '../../token/revocations.ts'
import { issueServiceToken } from '../../token/service-token.ts'
import { type Run, UsageError } from '../command.ts'
import { formatDuration } from '../duration.ts'
import { json, printable } from '../format.ts'
import { operator } from '../operator.ts'
import { noteProblem } from './note.ts'
import type { issueSpec } from './specs.ts'

/** Issues a token to a service account. */
export const tokenIssue: Run<typeof issueSpec> = async ({ arguments: [name], options }, io) => {
  const { expires, note = '' } = options
  const problem = noteProblem(note)
  if (problem !== undefined) throw new UsageError(problem)
  const settings = tokenSettings(options.config, io)
  const lifetimeSeconds = lifetimeOf(expires, settings)
  const keys = await configuredKeys(settings)
  const actor = operator(io)
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
  const { token, id, kid, expiresAt } = signed
  const { userId, roleKey: role } = service
  io.err(
    `postern: issued token ${id} to ${printable(name)} (role ${printable(role)}), expires ${expiresAt.toISOString()}; it is shown once\n`,
  )
  const issuedAt = new Date(signed.issuedAt)
  const shown = { id, service: name, userId, role, note, kid: kid ?? null, issuedAt, expiresAt }
  io.out(options.output === 'json' ? json({ ...shown, token }) : `${token}\n`)
  return 0
}

/** The lifetime in seconds. Throws unless the configuration allows it. */
function lifetimeOf(expires: string, { config }: TokenSettings): number {
  const ms = durationMs('expires', expires)
  if (ms < 1000) throw new UsageError('--expires: give at least one second')
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
