import { expressionBuilder, sql } from 'kysely'
import type { Inside, TableShapes } from '../database/database.ts'
import { live, same } from '../database/dialect.ts'
import type { Schema } from '../database/tables.ts'
import { isService, liveAccounts, status } from './account-queries.ts'

/** The role whose last enabled account only `--force` can end. */
export const adminKey = 'admin'

/**
 * Whether these accounts are all who can log in with role `admin`. Ask under the accounts lock: two
 * operators could otherwise each disable the admin that the other one relies on.
 */
export async function areLastAdmins(
  inside: Inside,
  shapes: TableShapes,
  userIds: readonly string[],
): Promise<boolean> {
  const admins = await liveAccounts(inside, shapes)
    .select('u.user_id as id')
    .where(same('r.role_key', adminKey))
    .where('u.status', '=', status.enabled)
    .where(({ not }) => not(isService(shapes)))
    // Of accounts with one name, login chooses the first: the others cannot act as admin.
    .where(({ not }) => not(isShadowed(shapes)))
    .execute()
  const ended = new Set(userIds)
  return admins.length > 0 && admins.every(({ id }) => ended.has(id))
}

function isShadowed({ users }: TableShapes) {
  const account = expressionBuilder<Schema & { readonly u: Schema['sys_user'] }, 'u'>()
  return account.exists(
    account
      .selectFrom('sys_user as first')
      .select('first.user_id')
      .where(same('first.username', sql.ref('u.username')))
      .whereRef('first.user_id', '<', 'u.user_id')
      .where('first.status', '=', status.enabled)
      .where(live('first', users)),
  )
}
