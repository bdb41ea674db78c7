import {
  type Kysely,
  MysqlAdapter,
  type OperationNode,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely'

/**
 * What PostgreSQL and MySQL spell differently in the queries of the stores. A fragment has both texts,
 * and the compiler of MySQL takes its own, so that no query asks where it runs.
 */
export function either<Result>(
  postgres: RawBuilder<Result>,
  mysql: RawBuilder<Result>,
): RawBuilder<Result> {
  const node = { ...postgres.toOperationNode(), mysql: mysql.toOperationNode() }
  return sql<Result>`${{ toOperationNode: () => node }}`
}

/** What MySQL is to run instead of this node, if that differs. */
export function mysqlNode(node: OperationNode): OperationNode | undefined {
  return 'mysql' in node ? (node.mysql as OperationNode) : undefined
}

/** For the few changes that MySQL needs several statements for. */
export function isMysql<Schema>(db: Kysely<Schema>): boolean {
  return db.getExecutor().adapter instanceof MysqlAdapter
}

/** The time by the clock of the database, also within a transaction. */
export const clock = either(sql<Date>`clock_timestamp()`, sql<Date>`sysdate(3)`)

/** The same when the statement began. */
export const now = either(sql<Date>`now()`, sql<Date>`now(3)`)

/** Milliseconds since the epoch by the clock of the database: those of gateways may differ. */
export const nowMs = either(
  sql<string>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  sql<string>`floor(timestampdiff(microsecond, '1970-01-01', sysdate(3)) / 1000)`,
)

/** A time as milliseconds since the epoch, as text. */
export function epochMs(time: RawBuilder<unknown>): RawBuilder<string> {
  return either(
    sql`floor(extract(epoch from ${time}) * 1000)::bigint::text`,
    sql`cast(floor(timestampdiff(microsecond, '1970-01-01', ${time}) / 1000) as char)`,
  )
}

/** The time that is so many milliseconds since the epoch. */
export function timeAt(ms: number): RawBuilder<unknown> {
  return either(
    sql`to_timestamp(${ms}::float8 / 1000)`,
    sql`timestampadd(microsecond, ${Math.round(ms * 1000)}, '1970-01-01')`,
  )
}

/** A time, earlier by milliseconds: a number, or a column. */
export function before(
  time: RawBuilder<unknown>,
  ms: number | RawBuilder<unknown>,
): RawBuilder<unknown> {
  return either(
    sql`${time} - ${typeof ms === 'number' ? sql`${ms}::float8` : ms} * interval '1 millisecond'`,
    sql`timestampadd(microsecond, -1000 * ${ms}, ${time})`,
  )
}

/** A time as RFC 3339 in UTC, to the millisecond. */
export function timeText(time: RawBuilder<unknown>): RawBuilder<string | null> {
  return either(
    sql`to_char(${time}::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
    sql`concat(replace(left(cast(cast(${time} as datetime(3)) as char), 23), ' ', 'T'), 'Z')`,
  )
}

/**
 * Whether a text column of go-admin has exactly this value. Its MySQL tables compare without regard to
 * letter case, accents and blanks at the end: "Admin" must not log in as "admin". The first comparison
 * is there for the index.
 */
export function same(column: string, value: string | RawBuilder<unknown>): RawBuilder<SqlBool> {
  const ref = sql.ref(column)
  return either<SqlBool>(
    sql`${ref} = ${value}`,
    sql`(${ref} = ${value} and ${bytes(ref)} = ${bytes(value)})`,
  )
}

/** Both columns, compared in the same way. */
export function sameColumns(first: string, second: string): RawBuilder<SqlBool> {
  return same(first, sql.ref(second))
}

function bytes(text: unknown): RawBuilder<unknown> {
  return sql`cast(convert(${text} using utf8mb4) as binary)`
}

/** A list for `in`. */
export function listOf(values: readonly string[]): RawBuilder<unknown> {
  return either(
    sql`(select json_array_elements_text(${JSON.stringify(values)}::json))`,
    values.length === 0 ? sql`(null)` : sql`(${sql.join(values)})`,
  )
}

/** The same as numbers. */
export function idsOf(ids: readonly string[]): RawBuilder<unknown> {
  return either(
    sql`(select json_array_elements_text(${JSON.stringify(ids)}::json)::bigint)`,
    ids.length === 0
      ? sql`(null)`
      : sql`(${sql.join(ids.map((id) => sql`cast(${id} as signed)`))})`,
  )
}

type ColumnType = 'text' | 'bigint' | 'int' | 'float8' | 'uuid' | 'timestamptz'

/** Rows as a table with these columns, for `from`. */
export function tableOf<Column extends string>(
  name: string,
  columns: Readonly<Record<Column, ColumnType>>,
  rows: readonly Readonly<Record<Column, unknown>>[],
): RawBuilder<unknown> {
  const names = Object.keys(columns) as Column[]
  const typed = names.map((column) => sql`${sql.ref(column)} ${sql.raw(columns[column])}`)
  const lines = rows.map((row) => {
    const values = names.map((column) => {
      return sql`${mysqlValue(row[column], columns[column])} as ${sql.ref(column)}`
    })
    return sql`select ${sql.join(values)}`
  })
  const empty = sql`select ${sql.join(names.map((column) => sql`null as ${sql.ref(column)}`))} from dual where false`
  return either(
    sql`json_to_recordset(${JSON.stringify(rows)}::json) as ${sql.ref(name)} (${sql.join(typed)})`,
    sql`(${lines.length === 0 ? empty : sql.join(lines, sql` union all `)}) as ${sql.ref(name)}`,
  )
}

/** MySQL has no zone in the text of a time: the driver writes a Date in UTC. */
function mysqlValue(value: unknown, type: ColumnType): unknown {
  if (value === undefined || value === null) return null
  return type === 'timestamptz' && typeof value === 'string' ? new Date(value) : value
}

/** The end of an insert that keeps a row which has the key already. */
export function orKeep(table: string, ...key: readonly string[]): RawBuilder<unknown> {
  const [column = ''] = key
  return either(
    sql`on conflict (${sql.join(key.map((name) => sql.ref(name)))}) do nothing`,
    sql`on duplicate key update ${sql.ref(column)} = ${sql.ref(`${table}.${column}`)}`,
  )
}

/** The end of an insert that overwrites these columns of a row which has the key already. */
export function orReplace(
  key: readonly string[],
  columns: readonly string[],
  also: RawBuilder<unknown> = sql``,
): RawBuilder<unknown> {
  const refs = columns.map((column) => sql.ref(column))
  return either(
    sql`on conflict (${sql.join(key.map((name) => sql.ref(name)))}) do update
      set ${sql.join(refs.map((ref) => sql`${ref} = excluded.${ref}`))}${also}`,
    sql`on duplicate key update ${sql.join(refs.map((ref) => sql`${ref} = values(${ref})`))}${also}`,
  )
}

/**
 * Lets one transaction at a time go on, until it ends. MySQL's own named locks outlive transactions, so
 * there it is a row; `detail` then does not divide the lock.
 */
export function lockUntilCommit(name: string, detail = ''): RawBuilder<unknown> {
  return either(
    sql`select pg_advisory_xact_lock(hashtextextended(${name + detail}::text, 0))`,
    sql`insert into postern_lock (name) values (${name})
      on duplicate key update value = postern_lock.value`,
  )
}

/** A limit for an offset alone, which MySQL lacks. */
export const allRows = sql`9223372036854775807`
