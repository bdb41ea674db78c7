import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { inject } from 'vitest'
import type { Database, TableShapes } from '../../src/stores/database/database.ts'
import { migrate } from '../../src/stores/database/migrations.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { readTableShapes } from '../../src/stores/database/table-shapes.ts'
import { findMariadb, startMariadb } from '../support/mariadb-server.ts'
import { startPostgres } from '../support/postgres-server.ts'

export const limits = { poolSize: 4, connectTimeoutMs: 5000, statementTimeoutMs: 10_000 }

/** One kind of database that the suites run on. */
export interface TestDatabase {
  readonly name: string
  start(): Promise<RunningDatabase>
}

export interface RunningDatabase {
  /** An emptied database, in which these statements run before Postern's own migrations. */
  fresh(...statements: readonly string[]): Promise<Database>
  stop(): Promise<void>
}

const embedded: TestDatabase = { name: 'the embedded database', start: startEmbedded }
const postgres: TestDatabase = { name: 'PostgreSQL', start: startServer }

const mariadb: TestDatabase = { name: 'MariaDB', start: startMysql }

/** Set by test/long/every-database.test.ts and test/long/mysql-suites.test.ts, which run every era. */
const chosen = () => process.env['POSTERN_TEST_DATABASES']

/** Every kind that Postern runs on. */
export function everyDatabase(): readonly TestDatabase[] {
  if (chosen() === 'mysql') return servers()
  return [
    embedded,
    { name: 'the embedded database of another process', start: startShared },
    postgres,
  ]
}

/** The two engines. Embedded databases of another process have the queries of the first. */
export function testDatabases(): readonly TestDatabase[] {
  if (chosen() === 'mysql') return servers()
  return chosen() === 'every' ? everyDatabase() : [embedded, postgres]
}

/** Drops an index, which MySQL finds by its table. */
export async function dropIndex(
  { db, kind }: Database,
  table: string,
  name: string,
): Promise<void> {
  const where = kind === 'mysql' ? sql` on ${sql.table(table)}` : sql``
  await sql`drop index ${sql.ref(name)}${where}`.execute(db)
}

function servers(): readonly TestDatabase[] {
  if (findMariadb() !== undefined) return [mariadb]
  process.stderr.write('MariaDB is not installed: its suites do not run\n')
  return []
}

/** The eras of go-admin's tables that a suite runs in: both take the same SQL on either engine. */
export function erasIn<Era>(database: string, eras: readonly Era[]): readonly Era[] {
  return chosen() !== undefined || database === postgres.name ? eras : eras.slice(0, 1)
}

/** A data directory with a copy of the seeded embedded database. */
export async function copiedDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-db-'))
  await cp(inject('databaseTemplate'), directory, { recursive: true })
  return directory
}

async function startEmbedded(): Promise<RunningDatabase> {
  const directory = await copiedDirectory()
  const database = await openDatabase({ directory, ...limits })
  return running(database, async () => {
    await database.close()
    await rm(directory, { recursive: true, force: true })
  })
}

/** The second to open a directory asks the first, be it in this process or in another one. */
async function startShared(): Promise<RunningDatabase> {
  const directory = await copiedDirectory()
  const host = await openDatabase({ directory, ...limits })
  const client = await openDatabase({ directory, ...limits })
  return running(client, async () => {
    await client.close()
    await host.close()
    await rm(directory, { recursive: true, force: true })
  })
}

async function startServer(): Promise<RunningDatabase> {
  const server = await startPostgres()
  const database = await openDatabase({ url: server.url, directory: '', ...limits })
  return running(database, async () => {
    await database.close()
    await server.stop()
  })
}

async function startMysql(): Promise<RunningDatabase> {
  const server = await startMariadb()
  let databases = 0
  let last: { readonly from: string; readonly schema: string; readonly url: string } | undefined
  const opened: Database[] = []
  return {
    async fresh(...statements) {
      const from = statements.join(';')
      // Twenty tables take a second on busy cores: new ones only after a test changed the schema.
      const database = opened.at(-1)
      if (last !== undefined && database !== undefined && last.from === from) {
        if (last.schema === (await mysqlSchemaOf(database.db))) {
          await emptyTables(database.db)
          const again = await openDatabase({ url: last.url, directory: '', ...limits, ...later })
          opened.push(again)
          return again
        }
      }
      const name = `test_${databases++}`
      await server.query(`create database ${name}`)
      const url = server.urlOf(name)
      const made = await openDatabase({ url, directory: '', ...limits, ...later })
      opened.push(made)
      for (const statement of statements) await sql.raw(onMysql(statement)).execute(made.db)
      await migrate(made.db)
      last = { from, schema: await mysqlSchemaOf(made.db), url }
      return made
    },
    async stop() {
      await Promise.all(opened.map(({ close }) => close()))
      await server.stop()
    },
  }
}

const later = { prepare: 'later', migrate: 'never' } as const

async function emptyTables(db: Database['db']): Promise<void> {
  const { rows } = await sql<{ name: string; counted: string | null }>`
    select table_name as name, auto_increment as counted from information_schema.tables
    where table_schema = database() and table_name <> 'postern_migration'`.execute(db)
  const { rows: filled } = await sql<{ name: string }>`${sql.join(
    rows.map(({ name }) => sql`(select ${name} as name from ${sql.table(name)} limit 1)`),
    sql` union all `,
  )}`.execute(db)
  const names = new Set(filled.map(({ name }) => name))
  for (const { name, counted } of rows) {
    if (names.has(name) || Number(counted ?? 1) > 1) {
      await sql`truncate ${sql.table(name)}`.execute(db)
    }
  }
}

/** Differs when a table, column, index, constraint or trigger differs. */
async function mysqlSchemaOf(db: Database['db']): Promise<string> {
  const { rows } = await sql<{ part: string }>`
    select concat_ws(' ', table_name, column_name, column_type) as part
      from information_schema.columns where table_schema = database()
    union all select concat_ws(' ', table_name, index_name, column_name)
      from information_schema.statistics where table_schema = database()
    union all select concat_ws(' ', table_name, constraint_name)
      from information_schema.table_constraints where table_schema = database()
    union all select trigger_name from information_schema.triggers
      where trigger_schema = database()
    order by 1`.execute(db)
  return rows.map(({ part }) => part).join('\n')
}

/** The statement of a test as gorm would make it on MySQL, with the collation of go-admin's tables. */
function onMysql(statement: string): string {
  return statement
    .replace(/\bbigserial\b/g, 'bigint auto_increment')
    .replace(/\btimestamptz\b/g, 'datetime(3)')
    .replace(/^(create table [\s\S]*)$/, '$1 character set utf8mb4 collate utf8mb4_general_ci')
}

function running(database: Database, stop: () => Promise<void>): RunningDatabase {
  const { db } = database
  let migrated: { readonly from: string; readonly schema: string } | undefined

  /** Migrations take the embedded database a third of a second: only after a test changed the schema. */
  async function empty(statements: readonly string[]): Promise<void> {
    const from = statements.join(';')
    if (migrated?.from === from && migrated.schema === (await schemaOf(db))) {
      const { rows } = await sql<{ tables: string }>`
        select string_agg(quote_ident(tablename), ', ') as tables from pg_tables
        where schemaname = 'public' and tablename <> 'postern_migration'`.execute(db)
      await db.transaction().execute(async (inside) => {
        // Without the trigger that keeps audit rows.
        await sql`set local session_replication_role = replica`.execute(inside)
        await sql`truncate ${sql.raw(rows[0]?.tables ?? '')} restart identity`.execute(inside)
      })
      return
    }
    await sql`drop schema public cascade`.execute(db)
    await sql`create schema public`.execute(db)
    for (const statement of statements) await sql.raw(statement).execute(db)
    await migrate(db)
    migrated = { from, schema: await schemaOf(db) }
  }

  return {
    async fresh(...statements) {
      await empty(statements)
      let shapes: Promise<TableShapes> | undefined
      return {
        ...database,
        shapes: () => {
          shapes ??= readTableShapes(db)
          return shapes
        },
      }
    },
    stop,
  }
}

/** Differs when a column, index, constraint, trigger, function or right differs. */
async function schemaOf(db: Database['db']): Promise<string> {
  const { rows } = await sql<{ part: string }>`
    select concat_ws(' ', relname, relkind, relacl, attname, format_type(atttypid, atttypmod),
      attnotnull, pg_get_expr(adbin, adrelid)) as part
    from pg_class c join pg_attribute a on a.attrelid = c.oid and attnum > 0
      left join pg_attrdef d on adrelid = attrelid and adnum = attnum
    where relnamespace = 'public'::regnamespace
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select concat_ws(' ', conrelid::regclass, pg_get_constraintdef(oid)) from pg_constraint
      where connamespace = 'public'::regnamespace
    union all select concat_ws(' ', tgrelid::regclass, tgname) from pg_trigger
    union all select proname from pg_proc where pronamespace = 'public'::regnamespace
    order by 1`.execute(db)
  return rows.map(({ part }) => part).join('\n')
}
