import { backendOf } from '../database/backend.ts'
import type { Db, Inside, TableShapes } from '../database/database.ts'
import { live, liveMark, now, type SoftDelete, same } from '../database/dialect.ts'
import { status } from './account-queries.ts'

export interface NewAccount {
  readonly username: string
  readonly roleKey: string
  readonly passwordHash: string
  /** Absent: it may log in. */
  readonly enabled?: boolean
  /** Absent: the user name. */
  readonly nickName?: string | undefined
  readonly email?: string | undefined
}

interface NewRole {
  readonly roleKey: string
  readonly roleName: string
  readonly dataScope: string
  readonly admin: boolean
}

/** Adds an account under the accounts lock, unless its name is taken or its role does not exist. */
export async function insertAccount(
  inside: Inside,
  { users, roles }: TableShapes,
  account: NewAccount,
): Promise<{ readonly userId: string } | 'name-taken' | 'no-such-role'> {
  const { username, roleKey, passwordHash, enabled: open = true } = account
  const { nickName = username, email = '' } = account
  const roleId = await liveRoleId(inside, roles, roleKey)
  if (roleId === undefined) return 'no-such-role'

  if (await isTaken(inside, users, username)) return 'name-taken'

  const described = { phone: '', avatar: '', sex: '', email, remark: '' }
  const placed = {
    role_id: roleId,
    dept_id: '0',
    post_id: '0',
    status: open ? status.enabled : status.disabled,
  }
  const named = { username, nick_name: nickName, password: passwordHash }
  const insert = inside
    .insertInto('sys_user')
    .values({ ...named, ...placed, ...described, ...fresh(users) })
  if (backendOf(inside).returnsRows) {
    return insert.returning('user_id as userId').executeTakeFirstOrThrow()
  }
  const { insertId } = await insert.executeTakeFirstOrThrow()
  return { userId: String(insertId) }
}

/** Whether a live account has this name. */
export async function isTaken(db: Db, users: SoftDelete, username: string): Promise<boolean> {
  const taken = await db
    .selectFrom('sys_user as u')
    .select('u.user_id')
    .where(same('u.username', username))
    .where(live('u', users))
    .executeTakeFirst()
  return taken !== undefined
}

/** Adds a role, unless a live one has its key. Returns whether it did. */
export async function insertRole(
  inside: Inside,
  { roles }: TableShapes,
  { roleKey, roleName, dataScope, admin }: NewRole,
): Promise<boolean> {
  if ((await liveRoleId(inside, roles, roleKey)) !== undefined) return false
  const named = { role_key: roleKey, role_name: roleName, flag: '', remark: '', role_sort: '0' }
  await inside
    .insertInto('sys_role')
    .values({ ...named, data_scope: dataScope, admin, status: status.enabled, ...fresh(roles) })
    .execute()
  return true
}

/** The id of the live role with this key, the lowest if there are several. */
export async function liveRoleId(db: Db, roles: SoftDelete, roleKey: string) {
  const role = await db
    .selectFrom('sys_role as r')
    .select('r.role_id')
    .where(same('r.role_key', roleKey))
    .where(live('r', roles))
    .orderBy('r.role_id')
    .executeTakeFirst()
  return role?.role_id
}

function fresh(softDelete: SoftDelete) {
  return {
    create_by: '0',
    update_by: '0',
    created_at: now,
    updated_at: now,
    deleted_at: liveMark(softDelete),
  }
}
