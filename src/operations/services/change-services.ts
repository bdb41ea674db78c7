import { nameProblem } from '../../stores/accounts/account-name.ts'
import { seedRoles } from '../../stores/accounts/seed.ts'
import { createServiceChanges } from '../../stores/services/service-changes.ts'
import { declineRole } from '../accounts/accounts-named.ts'
import { inDatabase } from '../configured-database.ts'
import { decline } from '../declined.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import { answerRevoked, tokensOf } from '../tokens/revoke-tokens.ts'
import type * as described from './descriptions.ts'
import { checkNote, declineService } from './refusals.ts'

export const serviceAdd: RunOf<typeof described.serviceAdd> = async (input, context) => {
  const { name, role, note = '' } = input
  const problem = nameProblem(name)
  if (problem !== undefined) throw new InvalidInput(undefined, problem)
  checkNote(note)
  return inDatabase(context, async (database) => {
    const { actor } = context
    // The first account of a database needs a role.
    const roles = await seedRoles(database, actor)
    // At once: they stay when the account is refused.
    if (roles.length > 0) context.err(`postern: created the initial roles ${roles.join(', ')}\n`)
    const added = await createServiceChanges(database, actor).add({ name, roleKey: role, note })
    if (added === 'no-such-role') return declineRole(role, database)
    if (added === 'name-taken') return decline(`${name} already exists: choose another name`)
    const { userId } = added
    return {
      document: { done: 'add', name, userId, role, note },
      notes: [`created service account ${name} with role ${role}`],
    }
  })
}

export const serviceRole: RunOf<typeof described.serviceRole> = ({ name, role }, context) =>
  inDatabase(context, async (database, { config }) => {
    const changed = await createServiceChanges(database, context.actor).setRole(name, role)
    if (changed === 'no-such-role') return declineRole(role, database)
    if (changed === 'no-such-service') return declineService(name, database)
    const stale = tokensOf(name, [changed.userId], `service account ${name} now has role ${role}`)
    return answerRevoked(stale, { config, database }, { done: 'role', name, ...changed })
  })

export const serviceRemove: RunOf<typeof described.serviceRemove> = ({ name }, context) =>
  inDatabase(context, async (database, { config }) => {
    const removed = await createServiceChanges(database, context.actor).remove(name)
    if (removed === 'no-such-service') return declineService(name, database)
    const stale = tokensOf(name, [removed.userId], `deleted service account ${name}`)
    return answerRevoked(stale, { config, database }, { done: 'remove', name, ...removed })
  })
