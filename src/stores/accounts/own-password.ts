import type { OwnAccount, PasswordChange } from '../../login/change-password.ts'
import { appendAudit } from '../audit/audit.ts'
import { type Database, inTransaction } from '../database/database.ts'
import { live, now, same } from '../database/dialect.ts'
import { status } from './account-queries.ts'
import { isId } from './accounts.ts'
import { createBounded } from './bounded.ts'
import { hasPassword } from './unusable-password.ts'

/**
 * What a user who changes their own password needs. Every error of the driver becomes a Fault.
 * Nothing takes longer than `timeoutMs`.
 */
export function createOwnPasswords({ db, shapes }: Database, timeoutMs = 10_000) {
  const bounded = createBounded(timeoutMs)

  async function find(userId: string): Promise<OwnAccount | undefined> {
    const { users } = await shapes()
    const row = await db
      .selectFrom('sys_user as u')
      .select(['u.username', 'u.password', 'u.status'])
      .where('u.user_id', '=', userId)
      .where(live('u', users))
      .executeTakeFirst()
    if (row === undefined) return undefined
    return {
      userId,
      username: row.username ?? '',
      passwordHash: row.password ?? '',
      hasPassword: hasPassword(row.password),
      enabled: row.status === status.enabled,
    }
  }

  async function replace({ account, newHash, origin }: PasswordChange): Promise<boolean> {
    const { userId, username, passwordHash } = account
    return inTransaction({ db, shapes }, async (inside, shape) => {
      // Of two changes with the same old password, or of this one and an operator's, one wins.
      const { numUpdatedRows } = await inside
        .updateTable('sys_user')
        .set({ password: newHash, update_by: userId, updated_at: now })
        .where('user_id', '=', userId)
        .where(same('password', passwordHash))
        .where('status', '=', status.enabled)
        .where(live('sys_user', shape.users))
        .executeTakeFirst()
      if (numUpdatedRows === 0n) return false
      const actor = { kind: 'user', name: username, origin } as const
      await appendAudit(inside, shape, [{ actor, action: 'user.password', subject: username }])
      return true
    })
  }

  return {
    /** The live account with this ID. */
    find: async (userId: string) => (isId(userId) ? bounded(() => find(userId)) : undefined),
    /**
     * Whether the account still had the old hash and got the new one, with a row in the audit log.
     */
    replace: (change: PasswordChange) => bounded(() => replace(change)),
  }
}
