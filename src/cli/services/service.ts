import {
  type AccountSettings,
  accountSettings,
  withDatabase,
} from '../../operations/configured-database.ts'
import { decline } from '../../operations/declined.ts'
import { declineRole, declineService } from '../../operations/services/unknown-names.ts'
import { revocationProblem } from '../../operations/tokens/revoke-tokens.ts'
import { nameProblem } from '../../stores/accounts/account-name.ts'
import { seedRoles } from '../../stores/accounts/seed.ts'
import type { Database } from '../../stores/database/database.ts'
import { createServiceChanges } from '../../stores/services/service-changes.ts'
import { type Run, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { json } from '../format.ts'
import type { Io } from '../io.ts'
import { operator } from '../operator.ts'
import { noteProblem } from './note.ts'
import type { addSpec, removeSpec, roleSpec } from './specs.ts'

export const serviceAdd: Run<typeof addSpec> = async ({ arguments: [name], options }, io) => {
  const { role: roleKey, note = '' } = options
  const problem = nameProblem(name) ?? noteProblem(note)
  if (problem !== undefined) throw new UsageError(problem)
  return withDatabase(accountSettings(options.config, io), async (database) => {
    const actor = operator(io)
    // The first account of a database needs a role.
    const roles = await seedRoles(database, actor)
    if (roles.length > 0) io.err(`postern: created the initial roles ${roles.join(', ')}\n`)
    const added = await createServiceChanges(database, actor).add({ name, roleKey, note })
    if (added === 'no-such-role') return declineRole(roleKey, database)
    if (added === 'name-taken') decline(`${name} already exists: choose another name`)
    io.err(`postern: created service account ${name} with role ${roleKey}\n`)
    const { userId } = added
    if (options.output === 'json') io.out(json({ done: 'add', name, userId, role: roleKey, note }))
    return 0
  })
}

export const serviceRole: Run<typeof roleSpec> = async (call, io) => {
  const {
    arguments: [name, roleKey],
    options,
  } = call
  const settings = accountSettings(options.config, io)
  return withDatabase(settings, async (database) => {
    const changed = await createServiceChanges(database, operator(io)).setRole(name, roleKey)
    if (changed === 'no-such-role') return declineRole(roleKey, database)
    if (changed === 'no-such-service') return declineService(name, database)
    const message = `service account ${name} now has role ${roleKey}`
    const done = { done: 'role', name, ...changed }
    return revokeAndReport({ message, done, output: options.output }, { settings, database, io })
  })
}

export const serviceRemove: Run<typeof removeSpec> = async ({ arguments: [name], options }, io) => {
  const settings = accountSettings(options.config, io)
  return withDatabase(settings, async (database) => {
    const changed = await createServiceChanges(database, operator(io)).remove(name)
    if (changed === 'no-such-service') return declineService(name, database)
    const message = `deleted service account ${name}`
    const done = { done: 'remove', name, ...changed }
    return revokeAndReport({ message, done, output: options.output }, { settings, database, io })
  })
}

interface Report {
  readonly message: string
  readonly done: { readonly name: string; readonly userId: string }
  readonly output: 'text' | 'json'
}

interface Place {
  readonly settings: AccountSettings
  readonly database: Database
  readonly io: Io
}

/** A store that fails is reported after the change, which stays. */
async function revokeAndReport(
  { message, done, output }: Report,
  { settings, database, io }: Place,
): Promise<number> {
  const problem = await revocationProblem([done.userId], settings.config, database)
  const tokensEnded = problem === undefined
  io.err(`postern: ${message}${tokensEnded ? '; revoked all tokens issued until now' : ''}\n`)
  if (output === 'json') io.out(json({ ...done, tokensEnded }))
  if (tokensEnded) return 0
  const next = `once that is fixed, run "postern token revoke --user ${done.userId}"`
  io.err(`postern: the tokens of ${done.name} are still valid: ${problem}; ${next}\n`)
  return exitCodes.unavailable
}
