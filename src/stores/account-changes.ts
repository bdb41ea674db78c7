import { sql } from 'kysely'
import { insertAccount, type NewAccount } from './account-insert.ts'
import { accountOf, liveAccounts, status } from './account-queries.ts'
import type { Database } from './database.ts'
import { withFaults } from './database-fault.ts'
import { live } from './soft-delete.ts'
import { isStorable } from './storable-text.ts'

/** One line of the list of accounts. The role key is empty when the role is missing. */
export interface AccountSummary {
  readonly userId: string
  readonly username: string
  readonly roleKey: string
  readonly enabled: boolean
}

/** What operators do to accounts. Whatever the driver throws arrives as a Fault. */
export interface AccountChanges {
  /** Adds an enabled account, unless its name is taken or its role does not exist. */
  add(account: NewAccount): Promise<'added' | 'name-taken' | 'no-such-role'>
  /** Sets the password of the account that login would choose. Says whether there is one. */
  setPassword(username: string, passwordHash: string): Promise<boolean>
  /** Closes every live account of this name. Says whether there is one. */
  disable(username: string): Promise<boolean>
  list(): Promise<readonly AccountSummary[]>
}

/** Changes go-admin's `sys_user`. */
export function createAccountChanges({ db, shapes }: Database): AccountChanges {
  async function add(account: NewAccount) {
    const shape = await shapes()
    return db.transaction().execute((inside) => insertAccount(inside, shape, account))
  }

  async function setPassword(username: string, passwordHash: string): Promise<boolean> {
    const chosen = accountOf(db, await shapes(), username).select('u.user_id')
    const { numUpdatedRows } = await db
      .updateTable('sys_user')
      .set({ password: passwordHash, updated_at: sql`now()` })
      .where('user_id', '=', chosen)
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }

  async function disable(username: string): Promise<boolean> {
    const { users } = await shapes()
    const { numUpdatedRows } = await db
      .updateTable('sys_user')
      .set({ status: status.disabled, updated_at: sql`now()` })
      .where('username', '=', username)
      .where(live('sys_user', users))
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }

  async function list(): Promise<readonly AccountSummary[]> {
    const rows = await liveAccounts(db, await shapes())
      .select(['u.username', 'u.status', 'r.role_key'])
      .select(sql<string>`u.user_id::text`.as('user_id'))
      .orderBy('u.user_id')
      .execute()
    return rows.map((row) => ({
      userId: row.user_id,
      username: row.username ?? '',
      roleKey: row.role_key ?? '',
      enabled: row.status === status.enabled,
    }))
  }

  return {
    add: (account) => withFaults(() => add(account)),
    setPassword: async (username, passwordHash) =>
      isStorable(username) && withFaults(() => setPassword(username, passwordHash)),
    disable: async (username) => isStorable(username) && withFaults(() => disable(username)),
    list: () => withFaults(list),
  }
}
