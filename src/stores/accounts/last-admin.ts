import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { same, sameColumns } from '../database/dialect.ts'
import { live } from '../database/soft-delete.ts'
import type { TableShapes } from '../database/table-shapes.ts'
import { isService, liveAccounts, status } from './account-queries.ts'
import type { Inside } from './accounts-lock.ts'

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
    .select(sql<string>`u.user_id::text`.as('id'))
    .where(same('r.role_key', adminKey))
    .where('u.status', '=', status.enabled)
    .where(({ not }) => not(isService(shapes)))
    // Of accounts with one name, login chooses the first: the others cannot act as admin.
    .where(({ not }) => not(isShadowed(shapes)))
    .execute()
  const ended = new Set(userIds)
  return admins.length > 0 && admins.every(({ id }) => ended.has(id))
}

function isShadowed({ users }: TableShapes): RawBuilder<SqlBool> {
  return sql`exists (select 1 from sys_user as first
    where ${sameColumns('first.username', 'u.username')} and first.user_id < u.user_id
      and first.status = ${status.enabled} and ${live('first', users)})`
}
