import type { Generated } from 'kysely'

/**
 * The columns of go-admin's tables that Postern reads or writes. Every one but the keys may be
 * NULL in a database that others fill. `deleted_at` is a time or a number, depending on the era:
 * only `soft-delete.ts` looks into it.
 */
export interface Schema {
  readonly sys_user: UserTable
  readonly sys_role: RoleTable
  readonly sys_login_log: LoginLogTable
}

interface History {
  readonly create_by: string | null
  readonly update_by: string | null
  readonly created_at: Date | null
  readonly updated_at: Date | null
}

interface UserTable extends History {
  readonly deleted_at: unknown
  readonly user_id: Generated<string>
  readonly username: string | null
  readonly password: string | null
  readonly nick_name: string | null
  readonly phone: string | null
  readonly role_id: string | null
  readonly avatar: string | null
  readonly sex: string | null
  readonly email: string | null
  readonly dept_id: string | null
  readonly post_id: string | null
  readonly remark: string | null
  readonly status: string | null
}

interface RoleTable extends History {
  readonly deleted_at: unknown
  readonly role_id: Generated<string>
  readonly role_name: string | null
  readonly status: string | null
  readonly role_key: string | null
  readonly role_sort: string | null
  readonly flag: string | null
  readonly remark: string | null
  readonly admin: boolean | null
  readonly data_scope: string | null
}

interface LoginLogTable extends History {
  readonly id: Generated<string>
  readonly username: string | null
  readonly status: string | null
  readonly ipaddr: string | null
  readonly login_location: string | null
  readonly browser: string | null
  readonly os: string | null
  readonly platform: string | null
  readonly login_time: Date | null
  readonly remark: string | null
  readonly msg: string | null
}
