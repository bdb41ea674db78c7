import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { live } from '../database/soft-delete.ts'
import { isStorable } from '../database/storable-text.ts'
import { insertAccount, liveRoleId, type NewAccount } from './account-insert.ts'
import { accountOf, status } from './account-queries.ts'

/** The ids of the changed accounts: empty when no live account has the name. */
export type Changed = readonly string[]

/** How operators change accounts. Every error of the driver becomes a Fault. */
interface AccountChanges {
  /** Adds an enabled account, unless its name is taken or its role does not exist. */
  add(account: NewAccount): Promise<'added' | 'name-taken' | 'no-such-role'>
  /** Sets the password of the account that login would choose. */
  setPassword(username: string, passwordHash: string): Promise<Changed>
  /** Gives every live account of this name another role, if that exists. */
  setRole(username: string, roleKey: string): Promise<Changed | 'no-such-role'>
  /** Disables or enables every live account of this name. */
  setEnabled(username: string, enabled: boolean): Promise<Changed>
}

/** Changes go-admin's `sys_user`. */
export function createAccountChanges({ db, shapes }: Database): AccountChanges {
  async function add(account: NewAccount) {
    const shape = await shapes()
    return db.transaction().execute((inside) => insertAccount(inside, shape, account))
  }

  async function setPassword(username: string, passwordHash: string): Promise<Changed> {
    const chosen = accountOf(db, await shapes(), username).select('u.user_id')
    const rows = await db
      .updateTable('sys_user')
      .set({ password: passwordHash, updated_at: sql`now()` })
      .where('user_id', '=', chosen)
      .returning(sql<string>`user_id::text`.as('id'))
      .execute()
    return rows.map(({ id }) => id)
  }

  async function change(
    username: string,
    values: { readonly status: string } | { readonly role_id: string },
  ): Promise<Changed> {
    const { users } = await shapes()
    const rows = await db
      .updateTable('sys_user')
      .set({ ...values, updated_at: sql`now()` })
      .where('username', '=', username)
      .where(live('sys_user', users))
      .returning(sql<string>`user_id::text`.as('id'))
      .execute()
    return rows.map(({ id }) => id)
  }

  async function setRole(username: string, roleKey: string): Promise<Changed | 'no-such-role'> {
    const { roles } = await shapes()
    const roleId = await liveRoleId(db, roles, roleKey)
    return roleId === undefined ? 'no-such-role' : change(username, { role_id: roleId })
  }

  /** No account has a name that no column can hold; the server would report an error. */
  async function ofName<Result>(
    username: string,
    work: () => Promise<Result>,
  ): Promise<Result | readonly []> {
    return isStorable(username) ? withFaults(work) : []
  }

  const { enabled: open, disabled: closed } = status
  return {
    add: (account) => withFaults(() => add(account)),
    setPassword: (username, hash) => ofName(username, () => setPassword(username, hash)),
    setRole: (username, roleKey) => ofName(username, () => setRole(username, roleKey)),
    setEnabled: (username, enabled) =>
      ofName(username, () => change(username, { status: enabled ? open : closed })),
  }
}
