import type { Selectable } from 'kysely'
import type { Schema } from '../database/tables.ts'

declare global {
  interface JSON {
    /** A value that `JSON.stringify` writes as the given text. ECMAScript 2026, in Node since 22. */
    rawJSON(text: string): object
  }
}

type User = Selectable<Schema['sys_user']>
type Role = Selectable<Schema['sys_role']>

/**
 * The answer of go-admin's own-profile endpoint: `user`, `roles` and `posts`, under its names.
 * Every member is named here, so that no password, salt or later column slips out.
 */
export function toProfile(user: User, role: Role | undefined): Readonly<Record<string, unknown>> {
  return {
    user: {
      userId: exactNumber(user.user_id),
      username: user.username ?? '',
      nickName: user.nick_name ?? '',
      phone: user.phone ?? '',
      roleId: exactNumber(user.role_id),
      avatar: user.avatar ?? '',
      sex: user.sex ?? '',
      email: user.email ?? '',
      deptId: exactNumber(user.dept_id),
      postId: exactNumber(user.post_id),
      remark: user.remark ?? '',
      status: user.status ?? '',
      deptIds: [exactNumber(user.dept_id)],
      postIds: [exactNumber(user.post_id)],
      roleIds: [exactNumber(user.role_id)],
      dept: {},
      ...history(user),
    },
    roles: role === undefined ? [] : [toRole(role)],
    posts: [],
  }
}

function toRole(role: Role) {
  return {
    roleId: exactNumber(role.role_id),
    roleName: role.role_name ?? '',
    status: role.status ?? '',
    roleKey: role.role_key ?? '',
    roleSort: exactNumber(role.role_sort),
    flag: role.flag ?? '',
    remark: role.remark ?? '',
    admin: role.admin ?? false,
    dataScope: role.data_scope ?? '',
    ...history(role),
  }
}

function history(row: User | Role) {
  return {
    createBy: exactNumber(row.create_by),
    updateBy: exactNumber(row.update_by),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/**
 * An id as a JSON number, as existing clients expect it, exact beyond 2^53 too: what a number
 * cannot hold becomes a value that `JSON.stringify` writes digit by digit. NULL becomes 0.
 */
export function exactNumber(text: string | null): number | object {
  const number = Number(text ?? 0)
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(BigInt(text ?? 0).toString())
}
