import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { live } from '../database/soft-delete.ts'
import { isStorable } from '../database/storable-text.ts'
import { liveAccounts, status } from './account-queries.ts'

/** One line of the list of accounts. The role key is empty when the role is missing. */
interface AccountSummary {
  readonly userId: string
  readonly username: string
  readonly roleKey: string
  readonly enabled: boolean
}

/** Which accounts and roles exist. Every error of the driver becomes a Fault. */
interface AccountDirectory {
  /** The ids of every live account of this name. */
  idsOf(username: string): Promise<readonly string[]>
  list(): Promise<readonly AccountSummary[]>
  /** The keys of the live roles. */
  roleKeys(): Promise<readonly string[]>
}

/** Reads go-admin's `sys_user` and `sys_role` for operators. */
export function createAccountDirectory({ db, shapes }: Database): AccountDirectory {
  async function idsOf(username: string): Promise<readonly string[]> {
    const rows = await liveAccounts(db, await shapes())
      .select(sql<string>`u.user_id::text`.as('id'))
      .where('u.username', '=', username)
      .orderBy('u.user_id')
      .execute()
    return rows.map(({ id }) => id)
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

  async function roleKeys(): Promise<readonly string[]> {
    const { roles } = await shapes()
    const rows = await db
      .selectFrom('sys_role as r')
      .select('r.role_key')
      .where(live('r', roles))
      .orderBy('r.role_id')
      .execute()
    return rows.flatMap(({ role_key: key }) => key || [])
  }

  return {
    // No account has a name that no column can hold; the server would report an error.
    idsOf: async (username) => (isStorable(username) ? withFaults(() => idsOf(username)) : []),
    list: () => withFaults(list),
    roleKeys: () => withFaults(roleKeys),
  }
}
