import { type Actor, appendAudit } from '../audit/audit.ts'
import type { Database, Inside, TableShapes } from '../database/database.ts'
import { deletedMark, same } from '../database/dialect.ts'
import { forgetSecondFactor } from '../second-factor/forget.ts'
import { type Changed, editAccounts, type Target, type Unchanged } from './account-edit.ts'
import { insertAccount, isTaken, liveRoleId, type NewAccount } from './account-insert.ts'
import { ifTaken, status, underAccountsLock } from './account-queries.ts'
import { adminKey } from './last-admin.ts'

/**
 * How operators change accounts. A change and its audit row are one transaction. `force` permits a
 * change that leaves no enabled admin. Every error of the driver becomes a Fault. Changes
 * go-admin's `sys_user` in the name of `actor`, who touches none of `protectedRoles`.
 */
export function createAccountChanges(
  database: Database,
  actor: Actor,
  protectedRoles: readonly string[] = [],
) {
  const bounds = { actor, protectedRoles }
  const every = (username: string) => ({ ...bounds, username, which: 'all' }) as const
  const chosen = (username: string) => ({ ...bounds, username, which: 'chosen' }) as const
  const isProtected = (role: string) => protectedRoles.includes(role)

  return {
    /** Adds an enabled account, unless its name is taken or its role does not exist. */
    add: async (account: NewAccount): Promise<Changed | Unchanged> => {
      if (isProtected(account.roleKey)) return 'protected-role'
      return underAccountsLock(database, async (inside, shapes) => {
        const added = await insertAccount(inside, shapes, account)
        if (typeof added === 'string') return added
        const { username: subject, roleKey: role } = account
        const after = { ...added, role }
        await appendAudit(inside, shapes, [{ actor, action: 'user.add', subject, after }])
        return { userIds: [added.userId] }
      }).catch(ifTaken('name-taken'))
    },
    /** Sets the password of the account that login would choose. */
    setPassword: (username: string, password: string) =>
      editAccounts(database, chosen(username), async () => ({
        action: 'user.password',
        set: { password },
      })),
    /** Gives every live account of this name another role, if that exists. */
    setRole: async (username: string, role: string, force?: boolean) => {
      if (isProtected(role)) return 'protected-role'
      return editAccounts(database, every(username), toRole(role, force))
    },
    /** Disables or enables every live account of this name. */
    setEnabled: (username: string, enabled: boolean, force?: boolean) =>
      editAccounts(database, every(username), async () => ({
        action: enabled ? 'user.enable' : 'user.disable',
        set: { status: enabled ? status.enabled : status.disabled },
        ...{ endsAdmin: !enabled, force },
        before: (target) => ({ enabled: target.enabled }),
        after: { enabled },
      })),
    /** Renames the account that login would choose. */
    rename: (username: string, name: string) =>
      editAccounts(database, chosen(username), async (inside, { users }) => {
        if (await isTaken(inside, users, name)) return 'name-taken'
        // go-admin's display name follows only where it was the user name, as in new accounts.
        return {
          action: 'user.rename',
          set: {
            username: name,
            nick_name: ({ case: when, ref }) =>
              when().when(same('nick_name', username)).then(name).else(ref('nick_name')).end(),
          },
          before: () => ({ name: username }),
          after: { name },
        }
      }).catch(ifTaken('name-taken')),
    /** Deletes every live account of this name, as go-admin does: the rows stay and are marked. */
    remove: (username: string, force?: boolean) =>
      editAccounts(database, every(username), async (inside, { users, optional }) => ({
        action: 'user.delete',
        set: { deleted_at: deletedMark(users) },
        also: async (userIds) => {
          if (optional.has('postern_totp') && optional.has('postern_recovery_code')) {
            await forgetSecondFactor(inside, userIds)
          }
        },
        ...{ endsAdmin: true, force },
        before: ({ userId, roleKey, enabled }) => ({ userId, role: roleKey, enabled }),
      })),
  }
}

/** The edit that gives accounts another role, if that exists. */
export function toRole(role: string, force = false) {
  return async (inside: Inside, { roles }: TableShapes) => {
    const roleId = await liveRoleId(inside, roles, role)
    if (roleId === undefined) return 'no-such-role'
    return {
      action: 'user.role',
      set: { role_id: roleId },
      ...{ endsAdmin: role !== adminKey, force },
      before: ({ roleKey }: Target) => ({ role: roleKey }),
      after: { role },
    } as const
  }
}
