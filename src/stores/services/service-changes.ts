import { insertAccount, liveRoleId } from '../accounts/account-insert.ts'
import { ifTaken, isService, liveAccounts, underAccountsLock } from '../accounts/account-queries.ts'
import { unusablePassword } from '../accounts/unusable-password.ts'
import { type Actor, appendAudit } from '../audit/audit.ts'
import {
  type Database,
  type Inside,
  requireTables,
  type TableShapes,
} from '../database/database.ts'
import { deletedMark, isStorable, now, nowMs, same } from '../database/dialect.ts'

interface NewService {
  readonly name: string
  readonly roleKey: string
  readonly note: string
}

/** The id of the changed account. */
interface Changed {
  readonly userId: string
}

/**
 * How operators change service accounts. Every error of the driver becomes a Fault. A service
 * account is a row of `sys_user`, so that its id never collides with that of a person, and a row of
 * `postern_service_account`, which keeps it from logging in. A change and its audit row are one
 * transaction.
 */
export function createServiceChanges(database: Database, actor: Actor) {
  function change<Result>(work: (inside: Inside, shapes: TableShapes) => Promise<Result>) {
    return underAccountsLock(database, (inside, shapes) => {
      requireTables(shapes, 'postern_service_account', 'postern_service_token')
      return work(inside, shapes)
    })
  }

  return {
    add: ({ name, roleKey, note }: NewService): Promise<Changed | 'name-taken' | 'no-such-role'> =>
      change(async (inside, shapes) => {
        const account = {
          username: name,
          roleKey,
          passwordHash: unusablePassword(),
          enabled: false,
        }
        const added = await insertAccount(inside, shapes, account)
        if (typeof added === 'string') return added
        const { userId } = added
        await inside
          .insertInto('postern_service_account')
          .values({ user_id: userId, note })
          .execute()
        const after = { userId, role: roleKey, ...(note && { note }) }
        await appendAudit(inside, shapes, [{ actor, action: 'service.add', subject: name, after }])
        return { userId }
      }).catch(ifTaken('name-taken')),
    /** The caller then revokes the tokens of the account, because tokens carry the role. */
    setRole: (
      name: string,
      roleKey: string,
    ): Promise<Changed | 'no-such-service' | 'no-such-role'> =>
      change(async (inside, shapes) => {
        const service = await find(inside, shapes, name)
        if (service === undefined) return 'no-such-service'
        const roleId = await liveRoleId(inside, shapes.roles, roleKey)
        if (roleId === undefined) return 'no-such-role'
        const { userId } = service
        await update(inside, userId, { role_id: roleId })
        const [before, after] = [{ role: service.roleKey }, { role: roleKey }]
        const entry = { actor, action: 'service.role', subject: name, before, after } as const
        await appendAudit(inside, shapes, [entry])
        return { userId }
      }),
    /** Deletes the account as go-admin does: the row stays and is marked. */
    remove: (name: string): Promise<Changed | 'no-such-service'> =>
      change(async (inside, shapes) => {
        const service = await find(inside, shapes, name)
        if (service === undefined) return 'no-such-service'
        const { userId, roleKey: role } = service
        await update(inside, userId, { deleted_at: deletedMark(shapes.users) })
        const before = { userId, role }
        const entry = { actor, action: 'service.remove', subject: name, before } as const
        await appendAudit(inside, shapes, [entry])
        return { userId }
      }),
  }
}

async function find(inside: Inside, shapes: TableShapes, name: string) {
  // No account has a name that no column can hold; the server would report an error.
  if (!isStorable(name)) return undefined
  const row = await liveAccounts(inside, shapes)
    .select(['r.role_key', 'u.user_id'])
    .where(same('u.username', name))
    .where(isService(shapes))
    .orderBy('u.user_id')
    .executeTakeFirst()
  return row && { userId: row.user_id, roleKey: row.role_key ?? '' }
}

/** Also dates the tokens issued so far as revoked, for lists that cannot ask Redis. */
async function update(
  inside: Inside,
  userId: string,
  values: { readonly role_id: string } | { readonly deleted_at: unknown },
): Promise<void> {
  await inside
    .updateTable('sys_user')
    .set({ ...values, updated_at: now })
    .where('user_id', '=', userId)
    .execute()
  const revoke = inside.updateTable('postern_service_token').set({ revoked_ms: nowMs })
  await revoke.where('user_id', '=', userId).where('revoked_ms', 'is', null).execute()
}
