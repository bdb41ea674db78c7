const history = 'create_by bigint, update_by bigint, created_at timestamptz, updated_at timestamptz'
const mark = 'deleted_at bigint not null default 0'

/** `sys_user` and `sys_role` as go-admin makes them after v2.4: a number marks deleted rows. */
export const laterEra = [
  `create table sys_role (role_id bigserial primary key, role_name varchar(128), status varchar(4),
     role_key varchar(128), role_sort bigint, flag varchar(128), remark varchar(255), admin boolean,
     data_scope varchar(128), ${history}, ${mark})`,
  'create unique index uk_sys_role_role_key on sys_role (role_key, deleted_at)',
  `create table sys_user (user_id bigserial primary key, username varchar(64), password varchar(128),
     nick_name varchar(128), phone varchar(11), role_id bigint, salt varchar(255),
     avatar varchar(255), sex varchar(255), email varchar(128), dept_id bigint, post_id bigint,
     remark varchar(255), status varchar(4), ${history}, ${mark})`,
  'create unique index uk_sys_user_username on sys_user (username, deleted_at)',
] as const
