import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { inject } from 'vitest'
import { type Database, openDatabase } from '../../src/stores/database/database.ts'
import { migrate } from '../../src/stores/database/migrations.ts'
import { readTableShapes, type TableShapes } from '../../src/stores/database/table-shapes.ts'
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
  const opened: Database[] = []
  return {
    async fresh(...statements) {
      const name = `test_${databases++}`
      await server.query(`create database ${name}`)
      const url = server.urlOf(name)
      const later = { prepare: 'later', migrate: 'never' } as const
      const database = await openDatabase({ url, directory: '', ...limits, ...later })
      opened.push(database)
      for (const statement of statements) await sql.raw(onMysql(statement)).execute(database.db)
      await migrate(database.db)
      return database
    },
    async stop() {
      await Promise.all(opened.map(({ close }) => close()))
      await server.stop()
    },
  }
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
