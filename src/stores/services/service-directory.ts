import type { Caller } from '../../token/caller.ts'
import { callerColumns, callerIn, isService, liveAccounts } from '../accounts/account-queries.ts'
import { type Database, requireTables, withFaults } from '../database/database.ts'
import { isStorable, same } from '../database/dialect.ts'

/** Which service accounts exist. Every error of the driver becomes a Fault. */
export function createServiceDirectory({ db, shapes }: Database) {
  async function list() {
    const shape = await shapes()
    requireTables(shape, 'postern_service_account', 'postern_service_token')
    const rows = await liveAccounts(db, shape)
      .innerJoin('postern_service_account as s', 's.user_id', 'u.user_id')
      .select(['u.user_id', 'u.username', 'r.role_key', 's.note', 's.created_at'])
      .orderBy('u.user_id')
      .execute()
    return rows.map((row) => ({
      userId: row.user_id,
      name: row.username ?? '',
      /** Empty when the role is missing. */
      roleKey: row.role_key ?? '',
      note: row.note,
      createdAt: row.created_at,
    }))
  }

  async function callerOf(name: string): Promise<Caller | 'no-such-service' | 'no-role'> {
    const shape = await shapes()
    const row = await liveAccounts(db, shape)
      .select(callerColumns)
      .where(same('u.username', name))
      .where(isService(shape))
      .orderBy('u.user_id')
      .executeTakeFirst()
    if (row === undefined) return 'no-such-service'
    // The policy decides by role key: without one it cannot decide.
    if (!row.role_key || row.role_id === null) return 'no-role'
    return callerIn(row)
  }

  return {
    list: () => withFaults(list),
    // No account has a name that no column can hold; the server would report an error.
    /** Whom a token of this service names. */
    callerOf: async (name: string) =>
      isStorable(name) ? withFaults(() => callerOf(name)) : 'no-such-service',
  }
}
