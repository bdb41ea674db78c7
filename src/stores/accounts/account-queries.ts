import { expressionBuilder } from 'kysely'
import type { Caller } from '../../token/caller.ts'
import {
  type Database,
  type Db,
  type Inside,
  inTransaction,
  isDuplicate,
  type TableShapes,
} from '../database/database.ts'
import { live, lockUntilCommit, same } from '../database/dialect.ts'
import type { Schema } from '../database/tables.ts'

/** The status of an account that may log in, and of one that may not. */
export const status = { enabled: '2', disabled: '1' } as const

/** Every live account `u` with its role `r`, whose columns are NULL when it has no live role. */
export function liveAccounts(db: Db, { users, roles }: TableShapes) {
  return db
    .selectFrom('sys_user as u')
    .leftJoin('sys_role as r', (join) =>
      join.onRef('r.role_id', '=', 'u.role_id').on(live('r', roles)),
    )
    .where(live('u', users))
}

/** The one account that this login name selects. */
export function accountOf(db: Db, shapes: TableShapes, username: string) {
  return inOrderOfLogin(liveAccounts(db, shapes)).where(same('u.username', username)).limit(1)
}

/** The columns that `callerIn` reads. */
export const callerColumns = [
  ...(['u.user_id', 'u.username', 'r.role_id', 'r.role_key'] as const),
  ...(['r.role_name', 'r.data_scope'] as const),
] as const

type CallerRow = { readonly user_id: string } & Readonly<
  Record<'username' | 'role_id' | 'role_key' | 'role_name' | 'data_scope', string | null>
>

/** An account as tokens name it. The role key is empty when the role is missing. */
export function callerIn(row: CallerRow): Caller {
  return {
    userId: row.user_id,
    roleId: row.role_id ?? '',
    roleKey: row.role_key ?? '',
    roleName: row.role_name ?? '',
    username: row.username ?? '',
    dataScope: row.data_scope ?? '',
  }
}

/**
 * Old databases can hold a name twice; go-admin uses the enabled account with the lowest key, so that
 * comes first.
 */
export function inOrderOfLogin(accounts: ReturnType<typeof liveAccounts>) {
  return accounts
    .orderBy(({ eb, fn, val }) => eb(fn.coalesce('u.status', val('')), '=', status.enabled), 'desc')
    .orderBy('u.user_id')
}

/**
 * Whether account `u` belongs to a program. `postern_service_account` alone decides: go-admin may have
 * changed the status or the password of the row.
 */
export function isService({ optional }: TableShapes) {
  const table = 'postern_service_account'
  return optional.has(table) ? hasRowIn(table) : account.lit(false)
}

/** Whether account `u` needs one-time codes to log in. */
export function hasSecondFactor({ optional }: TableShapes) {
  const table = 'postern_totp'
  return optional.has(table) ? hasRowIn(table) : account.lit(false)
}

const account = expressionBuilder<Schema & { readonly u: Schema['sys_user'] }, 'u'>()

function hasRowIn(table: 'postern_service_account' | 'postern_totp') {
  return account.exists(
    account
      .selectFrom(`${table as 'postern_totp'} as own`)
      .select('own.user_id')
      .whereRef('own.user_id', '=', 'u.user_id'),
  )
}

/**
 * Runs a change in a transaction. Lets one Postern process at a time change accounts and roles:
 * databases older than go-admin's unique index would accept the same name twice, two operators could
 * disable each other's last admin, and a role could be removed while an account gets it. Every error
 * of the driver becomes a Fault.
 */
export function underAccountsLock<Result>(
  database: Database,
  work: (inside: Inside, shapes: TableShapes) => Promise<Result>,
): Promise<Result> {
  return inTransaction(database, async (inside, shapes) => {
    await lockUntilCommit('postern_accounts').execute(inside)
    return work(inside, shapes)
  })
}

/**
 * The outcome of a change that a unique index rejected. That of go-admin on MySQL also rejects a name
 * that differs only in letter case or accents.
 */
export function ifTaken<Outcome extends string>(outcome: Outcome) {
  return (error: unknown): Outcome => {
    if (isDuplicate(error)) return outcome
    throw error
  }
}
