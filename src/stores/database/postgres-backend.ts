import {
  type Kysely,
  PostgresDialect,
  PostgresQueryCompiler,
  type RawBuilder,
  type RawNode,
  sql,
} from 'kysely'
import { type Backend, type Catalog, chosenNode, type Fragments, withBackend } from './backend.ts'
import { createPool } from './postgres-pool.ts'
import { repeatingDialect } from './repeating-dialect.ts'
import {
  columnLines,
  migrationTable,
  optionalTables,
  quotedNames,
  type Schema,
  type Table,
  tables,
} from './tables.ts'

class Compiler extends PostgresQueryCompiler {
  protected override visitRaw(node: RawNode): void {
    const own = chosenNode(node, fragments)
    if (own === undefined) super.visitRaw(node)
    else this.visitNode(own)
  }
}

/** A list is one parameter, however long it is. */
const fragments: Fragments = {
  createCompiler: () => new Compiler(),
  clock: sql`clock_timestamp()`,
  now: sql`now()`,
  nowMs: sql`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  epochMs: (time) => sql`floor(extract(epoch from ${time}::timestamptz) * 1000)::bigint::text`,
  timeAt: (ms) => sql`to_timestamp(${ms}::float8 / 1000)`,
  before: (time, ms) =>
    sql`${time} - ${typeof ms === 'number' ? sql`${ms}::float8` : ms} * interval '1 millisecond'`,
  timeText: (time) =>
    sql`to_char(${time}::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  dayText: (day) => sql`to_char(${day}, 'YYYY-MM-DD')`,
  same: (column, value) => sql`${column} = ${value}`,
  listOf: (values) => sql`(select json_array_elements_text(${JSON.stringify(values)}::json))`,
  idsOf: (ids) => sql`(select json_array_elements_text(${JSON.stringify(ids)}::json)::bigint)`,
  tableOf(name, columns, rows) {
    const typed = Object.entries(columns).map(([column, type]) => {
      return sql`${sql.ref(column)} ${sql.raw(type)}`
    })
    return sql`json_to_recordset(${JSON.stringify(rows)}::json) as ${sql.ref(name)} (${sql.join(typed)})`
  },
  lockUntilCommit: (name, detail) =>
    sql`select pg_advisory_xact_lock(hashtextextended(${name + detail}::text, 0))`,
  rowDigest: (texts) =>
    sql`('x' || substr(md5(concat_ws(chr(31), ${sql.join(texts)})), 1, 15))::bit(60)::bigint`,
}

const catalog: Catalog = {
  fittingTypes: {
    number: ['bigint', 'integer', 'smallint'],
    text: ['character varying', 'text', 'character', 'citext'],
    flag: ['boolean'],
    time: ['timestamp with time zone', 'timestamp without time zone'],
    mark: ['timestamp with time zone', 'timestamp without time zone', 'bigint'],
    id: ['uuid'],
  },
  /** One statement under a lock, so it is atomic without a transaction. */
  async migrate(db) {
    // Most starts find every table, and the language of the statement is expensive to load.
    const found = await catalog.existing(db, catalog.tables)
    if (found.length < catalog.tables.length) await sql.raw(creation()).execute(db)
  },
  tables: Object.keys({ ...tables, ...optionalTables, ...migrationTable }),
  existing: (db, names) => namesWhere(db, names, sql`to_regclass(name) is not null`),
  readable: (db, names) =>
    namesWhere(db, names, sql`has_table_privilege(to_regclass(name), 'select')`),
  async columnsOf(db, names) {
    const { rows } = await sql<{ table: string; column: string; type: string }>`
      select wanted.name as "table", a.attname::text as "column",
             format_type(a.atttypid, null) as "type"
      from (select json_array_elements_text(${JSON.stringify(names)}::json)) wanted(name)
      join pg_attribute a on a.attrelid = to_regclass(wanted.name)
      where a.attnum > 0 and not a.attisdropped`.execute(db)
    return rows
  },
  tableExists: async (db, name) => (await catalog.existing(db, [name])).length > 0,
  isHere: sql`table_schema = any (current_schemas(false))`,
  async mayCreateTables(db) {
    const { rows } = await sql<{ allowed: boolean | null }>`
      select has_schema_privilege(current_schema(), 'create') as allowed`.execute(db)
    return rows[0]?.allowed === true
  },
  async isReadOnly(db) {
    const { rows } = await sql<{ found: boolean }>`
      select current_setting('transaction_read_only') = 'on' as found`.execute(db)
    return rows[0]?.found === true
  },
  // The trigger is created with the table.
  canDeleteAudit: async () => false,
  revocationList: sql`pg_relation_filenode('postern_revocation')::text`,
}

async function namesWhere(
  db: Kysely<Schema>,
  names: readonly string[],
  condition: RawBuilder<unknown>,
): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from json_array_elements_text(${JSON.stringify(names)}::json) as wanted (name)
    where ${condition}`.execute(db)
  return rows.map(({ name }) => name)
}

/** What PostgreSQL and the embedded database have in common. */
export const postgresSql = { fragments, catalog, returnsRows: true, numbers: true } as const

export const postgres: Backend = {
  kind: 'postgres',
  ...postgresSql,
  async connect({ url = '', onUnreachable = () => {}, ...options }) {
    const pool = await createPool({ ...options, url, onBroken: onUnreachable })
    return repeatingDialect(withBackend(new PostgresDialect({ pool }), postgres))
  },
}

const columnTexts = {
  ...{ serial: 'bigserial', counter: 'bigserial', bigint: 'bigint', integer: 'integer' },
  ...{ varchar: 'varchar', text: 'text', boolean: 'boolean', uuid: 'uuid', date: 'date' },
  ...{ time: 'timestamptz', mark: 'timestamptz' },
  ...{ now: 'now()', clock: 'clock_timestamp()', zero: '0' },
}

function createTable(name: string, table: Table): string {
  const lines = [...columnLines(table, columnTexts), `primary key (${quotedNames(table.key)})`]
  const indexes = table.indexes.map(({ name: index, columns, unique }) => {
    const rows = unique === 'live' ? ' where deleted_at is null' : ''
    return `create ${unique ? 'unique ' : ''}index ${name}_${index} on ${name} (${quotedNames(columns)})${rows};`
  })
  return [`create table ${name} (${lines.join(', ')});`, ...indexes].join('\n')
}

/** Rejects every change of a row. */
const appendOnly = `
  create or replace function postern_audit_append_only() returns trigger language plpgsql as $body$
    begin raise exception 'postern_audit is append-only'; end $body$;
  create trigger postern_audit_append_only before update or delete or truncate on postern_audit
    for each statement execute function postern_audit_append_only();`

/** The statement that creates what is missing, under a lock. */
function creation(): string {
  const step = ([name, table]: readonly [string, Table]) => `
    if to_regclass('${name}') is null then
      ${createTable(name, table)}
      ${name === 'postern_audit' ? appendOnly : ''}
      insert into postern_migration (name) values ('create ${name}') on conflict do nothing;
    end if;`
  const whereAllowed = (entry: readonly [string, Table]) => `
    begin ${step(entry)}
    exception when insufficient_privilege or read_only_sql_transaction then null;
    end;`
  return `
  do $migration$ begin
    perform pg_advisory_xact_lock(hashtextextended('postern_migration', 0));
    if to_regclass('postern_migration') is null then
      ${createTable('postern_migration', migrationTable.postern_migration)}
    end if;
    ${Object.entries(tables).map(step).join('')}
    ${Object.entries(optionalTables).map(whereAllowed).join('')}
  end $migration$`
}
