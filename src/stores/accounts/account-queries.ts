import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { same } from '../database/dialect.ts'
import type { Schema } from '../database/schema.ts'
import { live } from '../database/soft-delete.ts'
import type { TableShapes } from '../database/table-shapes.ts'

/** The status of an account that may log in, and of one that may not. */
export const status = { enabled: '2', disabled: '1' } as const

/** Every live account `u` with its role `r`, whose columns are NULL when it has no live role. */
export function liveAccounts(db: Kysely<Schema>, { users, roles }: TableShapes) {
  return db
    .selectFrom('sys_user as u')
    .leftJoin('sys_role as r', (join) =>
      join.onRef('r.role_id', '=', 'u.role_id').on(live('r', roles)),
    )
    .where(live('u', users))
}

/** The one account that this login name selects. */
export function accountOf(db: Kysely<Schema>, shapes: TableShapes, username: string) {
  return inOrderOfLogin(liveAccounts(db, shapes)).where(same('u.username', username)).limit(1)
}

/**
 * Old databases can hold a name twice; go-admin uses the enabled account with the lowest key, so that
 * comes first.
 */
export function inOrderOfLogin(accounts: ReturnType<typeof liveAccounts>) {
  return accounts
    .orderBy(sql`coalesce(u.status, '') = ${status.enabled}`, 'desc')
    .orderBy('u.user_id')
}

/**
 * Whether account `u` belongs to a program. `postern_service_account` alone decides: go-admin may have
 * changed the status or the password of the row.
 */
export function isService({ optional }: TableShapes): RawBuilder<SqlBool> {
  return optional.has('postern_service_account')
    ? sql`exists (select 1 from postern_service_account as s where s.user_id = u.user_id)`
    : sql`false`
}

/** Whether account `u` needs one-time codes to log in. */
export function hasSecondFactor({ optional }: TableShapes): RawBuilder<SqlBool> {
  return optional.has('postern_totp')
    ? sql`exists (select 1 from postern_totp as t where t.user_id = u.user_id)`
    : sql`false`
}
