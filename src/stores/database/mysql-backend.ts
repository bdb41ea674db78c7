import {
  type InsertQueryNode,
  MysqlDialect,
  MysqlQueryCompiler,
  type OnConflictNode,
  OrActionNode,
  type RawNode,
  type ReferenceNode,
  type SelectModifierNode,
  sql,
} from 'kysely'
import { type Backend, type Catalog, chosenNode, type Fragments, withBackend } from './backend.ts'
import { isMissingTable, withFaults } from './database.ts'
import { canDeleteAudit, existingTables, migrateMysql, mysqlTables } from './mysql-migrations.ts'
import { createMysqlPool } from './mysql-pool.ts'
import { repeatingDialect } from './repeating-dialect.ts'

/** Kysely's compiler, for inserts and locks as the stores write them. */
class Compiler extends MysqlQueryCompiler {
  protected override visitRaw(node: RawNode): void {
    const own = chosenNode(node, fragments)
    if (own === undefined) super.visitRaw(node)
    else this.visitNode(own)
  }

  /** Rows that any unique index rejects are left out, and not counted as changed. */
  protected override visitInsertQuery({ onConflict, ...node }: InsertQueryNode): void {
    const isIgnored = onConflict?.doNothing === true && onConflict.columns === undefined
    if (isIgnored) super.visitInsertQuery({ ...node, orAction: OrActionNode.create('ignore') })
    else super.visitInsertQuery({ ...node, ...(onConflict && { onConflict }) })
  }

  /** Keeps or overwrites a row that has the key already. */
  protected override visitOnConflict({ columns = [], updates, updateWhere }: OnConflictNode): void {
    const [column] = columns
    const { into } = this.parentNode as InsertQueryNode
    if (column === undefined || into === undefined || updateWhere !== undefined) {
      throw new Error('MySQL has no such upsert')
    }
    this.append('on duplicate key update ')
    if (updates !== undefined) {
      this.compileList(updates)
      return
    }
    this.visitNode(column)
    this.append(' = ')
    this.visitNode(into)
    this.append('.')
    this.visitNode(column)
  }

  protected override visitReference(node: ReferenceNode): void {
    if (node.table?.table.identifier.name !== 'excluded') {
      super.visitReference(node)
      return
    }
    this.append('values(')
    this.visitNode(node.column)
    this.append(')')
  }

  /** MariaDB cannot name the table whose rows are locked: it locks those of all. */
  protected override visitSelectModifier({ of: _, ...node }: SelectModifierNode): void {
    super.visitSelectModifier(node)
  }
}

const fragments: Fragments = {
  createCompiler: () => new Compiler(),
  clock: sql`sysdate(3)`,
  now: sql`now(3)`,
  nowMs: sql`floor(timestampdiff(microsecond, '1970-01-01', sysdate(3)) / 1000)`,
  epochMs: (time) =>
    sql`cast(floor(timestampdiff(microsecond, '1970-01-01', ${time}) / 1000) as char)`,
  timeAt: (ms) => sql`timestampadd(microsecond, ${Math.round(ms * 1000)}, '1970-01-01')`,
  before: (time, ms) => sql`timestampadd(microsecond, -1000 * ${ms}, ${time})`,
  timeText: (time) =>
    sql`concat(replace(left(cast(cast(${time} as datetime(3)) as char), 23), ' ', 'T'), 'Z')`,
  dayText: (day) => sql`date_format(${day}, '%Y-%m-%d')`,
  // The first comparison is there for the index.
  same: (column, value) => sql`(${column} = ${value} and ${bytesOf(column)} = ${bytesOf(value)})`,
  listOf: (values) => (values.length === 0 ? sql`(null)` : sql`(${sql.join(values)})`),
  // As text an ID would be compared as a floating-point number, which is not exact beyond 2^53.
  idsOf: (ids) =>
    ids.length === 0
      ? sql`(null)`
      : sql`(${sql.join(ids.map((id) => sql`cast(${id} as signed)`))})`,
  tableOf(name, columns, rows) {
    const entries = Object.entries(columns)
    const lines = rows.map((row) => {
      const values = entries.map(([column, type]) => {
        return sql`${typedValue(row[column], type)} as ${sql.ref(column)}`
      })
      return sql`select ${sql.join(values)}`
    })
    const none = sql.join(entries.map(([column]) => sql`null as ${sql.ref(column)}`))
    const empty = sql`select ${none} from dual where false`
    return sql`(${lines.length === 0 ? empty : sql.join(lines, sql` union all `)}) as ${sql.ref(name)}`
  },
  // MySQL's own named locks outlive transactions, so it is a row.
  lockUntilCommit: (name) => sql`insert into postern_lock (name) values (${name})
    on duplicate key update value = postern_lock.value`,
  // MySQL 9.7 has no MD5.
  rowDigest: (texts) =>
    sql`cast(conv(substring(sha2(concat_ws(char(31), ${sql.join(texts)}), 256), 1, 15), 16, 10) as unsigned)`,
}

function bytesOf(text: unknown) {
  return sql`cast(convert(${text} using utf8mb4) as binary)`
}

/** MySQL has no zone in the text of a time: the driver writes a Date in UTC. */
function typedValue(value: unknown, type: string): unknown {
  if (value === undefined || value === null) return null
  return type === 'timestamptz' && typeof value === 'string' ? new Date(value) : value
}

const catalog: Catalog = {
  fittingTypes: {
    number: ['bigint', 'int', 'mediumint', 'smallint', 'tinyint'],
    text: ['varchar', 'char', 'text', 'tinytext', 'mediumtext', 'longtext'],
    flag: ['tinyint'],
    time: ['datetime', 'timestamp'],
    mark: ['datetime', 'timestamp', 'bigint'],
    id: ['char', 'varchar'],
  },
  migrate: migrateMysql,
  tables: mysqlTables,
  existing: existingTables,
  // This catalog shows only tables that the user has a privilege for.
  readable: existingTables,
  async columnsOf(db, names) {
    const { rows } = await sql<{ table: string; column: string; type: string }>`
      select table_name as "table", column_name as "column", data_type as "type"
      from information_schema.columns
      where table_schema = database() and table_name in (${sql.join(names)})`.execute(db)
    return rows
  },
  /** The table is read, because the catalog hides it from those who may not; a denial is a Fault. */
  async tableExists(db, name) {
    try {
      await withFaults(() => sql`select 1 from ${sql.table(name)} limit 0`.execute(db))
      return true
    } catch (error) {
      if (isMissingTable(error)) return false
      throw error
    }
  },
  isHere: sql`table_schema = database()`,
  // The privileges of roles are not listed there.
  mayCreateTables: async () => undefined,
  async isReadOnly(db) {
    const { rows } = await sql<{ found: unknown }>`select @@global.read_only as found`.execute(db)
    const found = rows[0]?.found
    return found === true || (found !== false && Number(found) === 1)
  },
  canDeleteAudit,
  // A table that is restored or truncated is created anew.
  revocationList: sql`(select cast(unix_timestamp(create_time) as char)
    from information_schema.tables
    where table_schema = database() and table_name = 'postern_revocation')`,
}

/** MySQL and MariaDB. */
export const mysql: Backend = {
  kind: 'mysql',
  fragments,
  catalog,
  returnsRows: false,
  numbers: false,
  async connect({ url = '', onUnreachable = () => {}, ...options }) {
    const pool = await createMysqlPool({ ...options, url, onBroken: onUnreachable })
    return repeatingDialect(withBackend(new MysqlDialect({ pool }), mysql))
  },
}
