import type { Generated } from 'kysely'

/** Columns that may be NULL, because other products fill these tables too. */
type Nullable<Names extends string, Value = string> = { readonly [Name in Names]: Value | null }

type History = Nullable<'create_by' | 'update_by'> & Nullable<'created_at' | 'updated_at', Date>

/**
 * The columns of go-admin's tables that Postern reads or writes. `deleted_at` is a time or a number,
 * depending on go-admin's version: only `soft-delete.ts` reads it.
 */
export interface Schema {
  readonly sys_user: History &
    Nullable<'username' | 'password' | 'nick_name' | 'phone' | 'role_id' | 'avatar' | 'sex'> &
    Nullable<'email' | 'dept_id' | 'post_id' | 'remark' | 'status'> & {
      readonly user_id: Generated<string>
      readonly deleted_at: unknown
    }
  readonly sys_role: History &
    Nullable<'role_name' | 'status' | 'role_key' | 'role_sort' | 'flag' | 'remark' | 'data_scope'> &
    Nullable<'admin', boolean> & {
      readonly role_id: Generated<string>
      readonly deleted_at: unknown
    }
  readonly sys_login_log: History &
    Nullable<'username' | 'status' | 'ipaddr' | 'login_location' | 'browser' | 'os' | 'platform'> &
    Nullable<'remark' | 'msg'> &
    Nullable<'login_time', Date> & { readonly id: Generated<string> }
}
