import type { UpdateObject } from 'kysely'
import { type Actor, appendAudit } from '../audit/audit.ts'
import type { AuditAction } from '../audit/audit-action.ts'
import type { Database, Inside, TableShapes } from '../database/database.ts'
import { isStorable, now, same } from '../database/dialect.ts'
import type { Schema } from '../database/tables.ts'
import { accountOf, isService, liveAccounts, status, underAccountsLock } from './account-queries.ts'
import { areLastAdmins } from './last-admin.ts'

/** The ids of the changed accounts. */
export interface Changed {
  readonly userIds: readonly string[]
}

/** Why nothing changed. */
export type Unchanged =
  | 'no-such-user'
  | 'no-such-role'
  | 'name-taken'
  /** A service account has commands of its own. */
  | 'service-account'
  /** No enabled account with role `admin` would be left. */
  | 'last-admin'
  /** The actor must not change accounts with this role. */
  | 'protected-account'
  /** The actor must not give this role. */
  | 'protected-role'

/**
 * Old databases can hold a name twice: all accounts of a name, the one that login would choose, or the
 * one with this ID.
 */
interface Whose {
  readonly username: string
  readonly which: 'all' | 'chosen' | { readonly userId: string }
}

/** On whose behalf, and within which bounds. */
interface Behalf {
  readonly actor: Actor
  /** Roles whose accounts the actor must not change; absent: none. */
  readonly protectedRoles?: readonly string[]
}

type Prepare = (inside: Inside, shapes: TableShapes) => Promise<Edit | Unchanged>

export interface Target {
  readonly userId: string
  readonly roleKey: string
  readonly enabled: boolean
}

/** What to change, and what the audit row says about it. */
interface Edit {
  readonly action: AuditAction
  readonly set: UpdateObject<Schema, 'sys_user'>
  /** Afterwards no enabled admin. With `force`, also where that was the last one. */
  readonly endsAdmin?: boolean
  readonly force?: boolean | undefined
  /** What else changes with these accounts, in the same transaction. */
  readonly also?: (userIds: readonly string[]) => Promise<void>
  readonly before?: (target: Target) => Readonly<Record<string, unknown>>
  readonly after?: Readonly<Record<string, unknown>>
}

/** Changes accounts and appends their audit rows, in one transaction. */
export function editAccounts(
  database: Database,
  whose: Whose & Behalf,
  prepare: Prepare,
): Promise<Changed | Unchanged> {
  return underAccountsLock(database, (inside, shapes) => editInside(inside, shapes, whose, prepare))
}

/** Edits an account in a transaction that holds the accounts lock. */
export async function editInside(
  inside: Inside,
  shapes: TableShapes,
  { actor, username, which, protectedRoles = [] }: Whose & Behalf,
  prepare: Prepare,
): Promise<Changed | Unchanged> {
  const targets = await targetsOf(inside, shapes, { username, which })
  if (typeof targets === 'string') return targets
  if (targets.some(({ roleKey }) => protectedRoles.includes(roleKey))) return 'protected-account'
  const userIds = targets.map(({ userId }) => userId)
  const edit = await prepare(inside, shapes)
  if (typeof edit === 'string') return edit
  const { action, set, before, after, endsAdmin = false, force = false } = edit
  if (endsAdmin && !force && (await areLastAdmins(inside, shapes, userIds))) return 'last-admin'

  await inside
    .updateTable('sys_user')
    .set({ ...set, updated_at: now })
    .where('user_id', 'in', userIds)
    .execute()
  await edit.also?.(userIds)
  const row = { actor, action, subject: username, after }
  const rows = targets.map((target) => ({ ...row, before: before?.(target) }))
  await appendAudit(inside, shapes, rows)
  return { userIds }
}

async function targetsOf(
  inside: Inside,
  shapes: TableShapes,
  { username, which }: Whose,
): Promise<readonly Target[] | Unchanged> {
  // No account has a name that no column can hold; the server would report an error.
  if (!isStorable(username)) return 'no-such-user'
  const named = liveAccounts(inside, shapes)
    .where(same('u.username', username))
    .orderBy('u.user_id')
  const one = which === 'chosen' ? accountOf(inside, shapes, username) : named
  const accounts = typeof which === 'string' ? one : named.where('u.user_id', '=', which.userId)
  const rows = await accounts
    .select(['u.user_id as userId', 'u.status', 'r.role_key', isService(shapes).as('service')])
    .forUpdate('u')
    .execute()
  if (rows.length === 0) return 'no-such-user'
  if (rows.some(({ service }) => service)) return 'service-account'
  return rows.map(({ userId, role_key: roleKey, status: stored }) => ({
    ...{ userId, roleKey: roleKey ?? '', enabled: stored === status.enabled },
  }))
}
