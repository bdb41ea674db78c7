import { type Kysely, sql } from 'kysely'
import { isMysql } from './dialect.ts'
import { migrateMysql, missingMysqlTables } from './mysql-migrations.ts'
import type { Schema } from './schema.ts'

/**
 * Creates missing tables with go-admin v2.4's columns and never changes an existing one. Several
 * replicas can run it at once: it is one statement under a lock, so it is atomic without a
 * transaction. If no table is missing, it needs no permission to create tables.
 */
export async function migrate(db: Kysely<Schema>): Promise<void> {
  if (isMysql(db)) return migrateMysql(db, tables, optionalTables)
  // Most starts find every table, and the language of the statement is expensive to load.
  if ((await missingTables(db)).length > 0) await sql.raw(createMissingTables).execute(db)
}

/** The tables that `migrate` would create. */
export async function missingTables(db: Kysely<Schema>): Promise<readonly string[]> {
  const names = Object.keys({ ...tables, ...optionalTables, postern_migration: '' })
  if (isMysql(db)) return missingMysqlTables(db, names)
  const { rows } = await sql<{ name: string }>`
    select name from json_array_elements_text(${JSON.stringify(names)}::json) as wanted (name)
    where to_regclass(name) is null`.execute(db)
  return rows.map(({ name }) => name)
}

/** Whether a gateway starts without this table. */
export function isOptionalTable(name: string): boolean {
  return name in optionalTables
}

/** Whether a migration created the table of roles: this one, or an earlier one that was interrupted. */
export async function wasCreatedHere(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql`
    select 1 from postern_migration where name = 'create sys_role'`.execute(db)
  return rows.length > 0
}

const times = `
  create_by bigint, update_by bigint, created_at timestamptz, updated_at timestamptz`

const tables = {
  sys_role: `
    create table sys_role (
      role_id bigserial primary key, role_name varchar(128), status varchar(4),
      role_key varchar(128), role_sort bigint, flag varchar(128), remark varchar(255),
      admin boolean, data_scope varchar(128), ${times}, deleted_at timestamptz);
    create unique index sys_role_live_role_key on sys_role (role_key) where deleted_at is null;`,
  sys_user: `
    create table sys_user (
      user_id bigserial primary key, username varchar(64), password varchar(128),
      nick_name varchar(128), phone varchar(11), role_id bigint, salt varchar(255),
      avatar varchar(255), sex varchar(255), email varchar(128), dept_id bigint, post_id bigint,
      remark varchar(255), status varchar(4), ${times}, deleted_at timestamptz);
    create unique index sys_user_live_username on sys_user (username) where deleted_at is null;`,
  sys_login_log: `
    create table sys_login_log (
      id bigserial primary key, username varchar(128), status varchar(4), ipaddr varchar(255),
      login_location varchar(255), browser varchar(255), os varchar(255), platform varchar(255),
      login_time timestamptz, remark varchar(255), msg varchar(255), ${times});`,
  postern_login_attempt: `
    create table postern_login_attempt (
      attempt_id uuid primary key, recorded_at timestamptz not null default now());
    create index postern_login_attempt_recorded_at on postern_login_attempt (recorded_at);`,
  postern_revocation: `
    create table postern_revocation (
      name varchar(160) primary key, user_id varchar(32) not null, moment_ms bigint not null,
      until_ms bigint not null, sequence bigserial not null);
    create unique index postern_revocation_sequence on postern_revocation (sequence);
    create index postern_revocation_until on postern_revocation (until_ms);`,
} as const

/**
 * Login and logout work without these. So a gateway whose user may not create tables, or that
 * reaches a read-only standby, starts without them.
 */
const optionalTables = {
  postern_policy_usage: `
    create table postern_policy_usage (
      day date not null, kind varchar(16) not null, name varchar(2048) not null,
      count bigint not null, last_ms bigint not null, primary key (day, kind, name));`,
  postern_policy_move: `
    create table postern_policy_move (
      prefix varchar(128) not null, move_id varchar(160) not null, sequence bigint not null,
      move text not null, recorded_at timestamptz not null default now(),
      primary key (prefix, move_id));
    create index postern_policy_move_sequence on postern_policy_move (prefix, sequence);`,
  postern_audit: `
    create table postern_audit (
      id bigserial primary key, at timestamptz not null default clock_timestamp(),
      actor_kind varchar(16) not null, actor varchar(128) not null, origin varchar(255) not null,
      action varchar(64) not null, subject varchar(255) not null, before text, after text);
    create index postern_audit_at on postern_audit (at);
    create index postern_audit_action on postern_audit (action, subject, id);
    create or replace function postern_audit_append_only() returns trigger language plpgsql as $body$
      begin raise exception 'postern_audit is append-only'; end $body$;
    create trigger postern_audit_append_only before update or delete or truncate on postern_audit
      for each statement execute function postern_audit_append_only();`,
  postern_session: `
    create table postern_session (
      token_id varchar(128) primary key, user_id varchar(32) not null,
      username varchar(64) not null, role_key varchar(128) not null, address varchar(64) not null,
      agent varchar(255) not null, issued_ms bigint not null, expires_ms bigint not null,
      seen_ms bigint not null);
    create index postern_session_user on postern_session (user_id, issued_ms);
    create index postern_session_expires on postern_session (expires_ms);`,
  postern_service_account: `
    create table postern_service_account (
      user_id bigint primary key, note varchar(255) not null,
      created_at timestamptz not null default now());`,
  postern_service_token: `
    create table postern_service_token (
      token_id varchar(64) primary key, user_id bigint not null, role_key varchar(128) not null,
      note varchar(255) not null, kid varchar(64) not null, issued_by varchar(128) not null,
      issued_ms bigint not null, expires_ms bigint not null, seen_ms bigint, revoked_ms bigint);
    create index postern_service_token_user on postern_service_token (user_id);`,
  postern_login_lockout: `
    create table postern_login_lockout (
      name varchar(160) not null, owner varchar(64) not null, kind varchar(16) not null,
      sealed text not null, since_ms bigint not null, until_ms bigint not null, cleared_ms bigint,
      primary key (name, owner));
    create index postern_login_lockout_until on postern_login_lockout (until_ms);`,
  postern_identity: `
    create table postern_identity (
      issuer varchar(255) not null, subject varchar(255) not null,
      provider varchar(64) not null, user_id bigint not null,
      linked_by varchar(128) not null, linked_at timestamptz not null default now(),
      seen_ms bigint, primary key (issuer, subject));
    create index postern_identity_user on postern_identity (user_id);`,
  postern_provider_session: `
    create table postern_provider_session (
      token_id varchar(128) primary key, user_id varchar(64) not null,
      issued_ms bigint not null, provider varchar(64) not null,
      subject varchar(255) not null, session varchar(255), sealed text,
      expires_ms bigint not null);
    create index postern_provider_session_subject on postern_provider_session (provider, subject);
    create index postern_provider_session_session on postern_provider_session (provider, session);
    create index postern_provider_session_expires on postern_provider_session (expires_ms);`,
  postern_used_once: `
    create table postern_used_once (
      name varchar(160) primary key, until_ms bigint not null);
    create index postern_used_once_until on postern_used_once (until_ms);`,
  postern_totp: `
    create table postern_totp (
      user_id bigint primary key, key_id varchar(64) not null, sealed text not null,
      last_step bigint not null, failures integer not null default 0,
      enrolled_at timestamptz not null default now());`,
  postern_recovery_code: `
    create table postern_recovery_code (
      user_id bigint not null, digest varchar(64) not null, used_ms bigint,
      primary key (user_id, digest));`,
} as const

export type OptionalTable = keyof typeof optionalTables

export const optionalTableNames = Object.keys(optionalTables) as readonly OptionalTable[]

function creation([name, statements]: readonly [string, string]): string {
  return `
    if to_regclass('${name}') is null then
      ${statements}
      insert into postern_migration (name) values ('create ${name}') on conflict do nothing;
    end if;`
}

const step = Object.entries(tables).map(creation).join('')

const optionalStep = Object.entries(optionalTables)
  .map(
    (entry) => `
    begin ${creation(entry)}
    exception when insufficient_privilege or read_only_sql_transaction then null;
    end;`,
  )
  .join('')

const createMissingTables = `
  do $migration$ begin
    perform pg_advisory_xact_lock(hashtextextended('postern_migration', 0));
    if to_regclass('postern_migration') is null then
      create table postern_migration (
        name varchar(128) primary key, applied_at timestamptz not null default now());
    end if;
    ${step}
    ${optionalStep}
  end $migration$`
