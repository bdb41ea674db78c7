import { exactCollation } from './mysql-session.ts'

/**
 * The tables that only MySQL needs: rows that transactions lock, one for each kind of change, and the
 * counter of the revocation list.
 */
export const mysqlOnlyTables = {
  postern_lock:
    'create table postern_lock (name varchar(64) primary key, value bigint not null default 0);',
  postern_migration:
    'create table postern_migration (name varchar(128) primary key, applied_at timestamptz not null default now());',
} as const

const types: readonly (readonly [RegExp, string])[] = [
  [/\bbigserial primary key\b/g, 'bigint auto_increment primary key'],
  // Filled from `postern_lock`: a second column that counts is not possible.
  [/\bbigserial\b/g, 'bigint'],
  // `timestamp` ends in 2038.
  [/\btimestamptz\b/g, 'datetime(3)'],
  [/\bdefault (?:now|clock_timestamp)\(\)/g, 'default current_timestamp(3)'],
  [/\buuid\b/g, 'char(36)'],
  // A plain `text` holds 64 kB.
  [/\btext\b/g, 'mediumtext'],
  [/\bbefore mediumtext\b/g, '"before" mediumtext'],
]

/**
 * The statement that creates a table on MySQL, made from those of PostgreSQL. One statement, indexes
 * included, because each one commits by itself: a table exists completely or not at all.
 */
export function mysqlTable(statements: string): string {
  const [, name = '', columns = ''] = /create table (\w+) \(([\s\S]*?)\);/.exec(statements) ?? []
  const indexes = Array.from(
    statements.matchAll(
      /create (unique )?index (\w+) on \w+ \(([^)]*)\)( where deleted_at is null)?/g,
    ),
    ([, unique = '', index, key = '', onlyLive]) =>
      onlyLive === undefined ? `${unique}key ${index} (${key})` : liveKey(index ?? '', key),
  )
  const parts = [longKey(typed(columns)), ...indexes].join(', ')
  return `create table if not exists ${name} (${parts})
    engine = InnoDB character set utf8mb4 collate ${exactCollation}`
}

function typed(columns: string): string {
  return types.reduce((text, [from, to]) => text.replace(from, to), columns)
}

/** MySQL cannot index some rows of a table only: the key is a column that deleted rows lack. */
function liveKey(index: string, column: string): string {
  return `live_${column} varchar(128) as (case when deleted_at is null then ${column} end) stored,
    unique key ${index} (live_${column})`
}

/** A key has at most 3,072 bytes, so a longer name is in it by its digest. */
function longKey(columns: string): string {
  if (!columns.includes('name varchar(2048)')) return columns
  return columns.replace(
    'primary key (day, kind, name)',
    `name_digest char(64) as (sha2(name, 256)) stored, unique key (day, kind, name_digest)`,
  )
}

/** Rejects every change of a row. `truncate` fires no trigger: it needs the privilege to drop tables. */
export const appendOnlyTriggers = ['update', 'delete'].map((event) => ({
  name: `postern_audit_no_${event}`,
  statement: `create trigger postern_audit_no_${event} before ${event} on postern_audit for each row
    signal sqlstate '45000' set message_text = 'postern_audit is append-only'`,
}))
