import { type Kysely, sql } from 'kysely'
import { Fault, Invalid, type Problem } from '../../errors.ts'
import { isMissingTable, withFaults } from './database-fault.ts'
import { either, isMysql } from './dialect.ts'
import { type OptionalTable, optionalTableNames } from './migrations.ts'
import type { Schema } from './schema.ts'
import type { SoftDelete } from './soft-delete.ts'

/** What differs between the databases of one product family. */
export interface TableShapes {
  readonly users: SoftDelete
  readonly roles: SoftDelete
  /** Those of the optional tables that exist and that this user of the database may read. */
  readonly optional: ReadonlySet<OptionalTable>
}

const kinds = {
  number: ['bigint', 'integer', 'smallint'],
  text: ['character varying', 'text', 'character', 'citext'],
  flag: ['boolean'],
  time: ['timestamp with time zone', 'timestamp without time zone'],
  mark: ['timestamp with time zone', 'timestamp without time zone', 'bigint'],
  id: ['uuid'],
} as const

type Kinds = Readonly<Record<keyof typeof kinds, readonly string[]>>

const mysqlKinds: Kinds = {
  number: ['bigint', 'int', 'mediumint', 'smallint', 'tinyint'],
  text: ['varchar', 'char', 'text', 'tinytext', 'mediumtext', 'longtext'],
  flag: ['tinyint'],
  time: ['datetime', 'timestamp'],
  mark: ['datetime', 'timestamp', 'bigint'],
  id: ['char', 'varchar'],
}

const times = { number: 'create_by update_by', time: 'created_at updated_at' }

/** Table, then kind, then the columns of that kind. */
const needed: Readonly<Record<string, Readonly<Partial<Record<keyof typeof kinds, string>>>>> = {
  sys_user: {
    number: `user_id role_id dept_id post_id ${times.number}`,
    text: 'username password nick_name phone avatar sex email remark status',
    time: times.time,
    mark: 'deleted_at',
  },
  sys_role: {
    number: `role_id role_sort ${times.number}`,
    text: 'role_name role_key status flag remark data_scope',
    flag: 'admin',
    time: times.time,
    mark: 'deleted_at',
  },
  sys_login_log: {
    number: times.number,
    text: 'username status ipaddr login_location browser os platform remark msg',
    time: `login_time ${times.time}`,
  },
  postern_login_attempt: { id: 'attempt_id', time: 'recorded_at' },
  postern_revocation: { text: 'name user_id', number: 'moment_ms until_ms sequence' },
}

const columnTypes = either<{ table: string; column: string; type: string }>(
  sql`
    select wanted.name as "table", a.attname::text as "column",
           format_type(a.atttypid, null) as "type"
    from (select json_array_elements_text(${JSON.stringify(Object.keys(needed))}::json)) wanted(name)
    join pg_attribute a on a.attrelid = to_regclass(wanted.name)
    where a.attnum > 0 and not a.attisdropped`,
  sql`
    select table_name as "table", column_name as "column", data_type as "type"
    from information_schema.columns
    where table_schema = database() and table_name in (${sql.join(Object.keys(needed))})`,
)

/**
 * Reads the columns of the tables from the catalog, along the search path that our queries use.
 * Throws `Invalid` with every difference that would break a query.
 */
export async function readTableShapes(db: Kysely<Schema>): Promise<TableShapes> {
  const { rows } = await columnTypes.execute(db)
  const fitting = isMysql(db) ? mysqlKinds : kinds
  const types = new Map(rows.map(({ table, column, type }) => [`${table}.${column}`, type]))

  const problems = Object.entries(needed).flatMap(([table, columns]) =>
    rows.some((row) => row.table === table)
      ? Object.entries(columns).flatMap(([kind, names]) =>
          names
            .split(' ')
            .flatMap((name) => difference(types, table, name, fitting[kind as keyof Kinds])),
        )
      : [problem(`table ${table} is missing: run "postern db migrate" to create it`)],
  )
  if (problems.length > 0) throw new Invalid(problems)

  return {
    users: softDelete(types.get('sys_user.deleted_at')),
    roles: softDelete(types.get('sys_role.deleted_at')),
    optional: await existingTables(db),
  }
}

/** The catalog of MySQL shows only tables that the user has a privilege for. */
const readableTables = either<{ name: OptionalTable }>(
  sql`
    select name from json_array_elements_text(${JSON.stringify(optionalTableNames)}::json) as wanted (name)
    where has_table_privilege(to_regclass(name), 'select')`,
  sql`
    select table_name as name from information_schema.tables
    where table_schema = database() and table_name in (${sql.join(optionalTableNames)})`,
)

/** Those of the optional tables that exist now. */
export async function existingTables(db: Kysely<Schema>): Promise<ReadonlySet<OptionalTable>> {
  const { rows } = await readableTables.execute(db)
  return new Set(rows.map(({ name }) => name))
}

/**
 * Whether a table exists, also one that this user may not read. The catalog of MySQL hides such a
 * table, so there it is read, and the denial is a Fault.
 */
export async function tableExists(db: Kysely<Schema>, name: OptionalTable): Promise<boolean> {
  if (!isMysql(db)) {
    const { rows } = await sql<{ found: boolean }>`
      select to_regclass(${name}) is not null as found`.execute(db)
    return rows[0]?.found === true
  }
  try {
    await withFaults(() => sql`select 1 from ${sql.table(name)} limit 0`.execute(db))
    return true
  } catch (error) {
    if (isMissingTable(error)) return false
    throw error
  }
}

/** Throws a Fault unless this optional table can be used: a gateway starts without it. */
export function requireTable(
  { optional }: Pick<TableShapes, 'optional'>,
  table: OptionalTable,
): void {
  if (optional.has(table)) return
  const reason = `table ${table} is missing, or this database user may not read it: run "postern db migrate", or grant the table`
  throw new Fault('database', { reason })
}

function difference(
  types: ReadonlyMap<string, string>,
  table: string,
  column: string,
  fitting: readonly string[],
): readonly Problem[] {
  const type = types.get(`${table}.${column}`)
  if (type === undefined) {
    return [problem(`table ${table} has no column ${column} (expected ${fitting.join(', ')})`)]
  }
  if (fitting.includes(type)) return []
  return [problem(`column ${column} of table ${table} is ${type}, expected ${fitting.join(', ')}`)]
}

function problem(message: string): Problem {
  return { file: 'database', message }
}

function softDelete(type: string | undefined): SoftDelete {
  return type === 'bigint' ? 'zero-is-live' : 'null-is-live'
}
