import { type Kysely, sql } from 'kysely'
import { Fault } from '../../errors.ts'
import { listOf } from './dialect.ts'
import { appendOnlyTriggers, mysqlOnlyTables, mysqlTable } from './mysql/mysql-tables.ts'

type Tables = Readonly<Record<string, string>>

/**
 * Creates missing tables. Every statement commits by itself on MySQL, so each table is one statement,
 * and a run that was interrupted goes on where it stopped. The named lock lets one replica do it.
 */
export async function migrateMysql<Schema>(
  db: Kysely<Schema>,
  required: Tables,
  optional: Tables,
): Promise<void> {
  const needed: Tables = { ...mysqlOnlyTables, ...required }
  const names = [...Object.keys(needed), ...Object.keys(optional)]
  if (await isComplete(db, names)) return
  await db.connection().execute(async (one) => {
    await lock(one)
    try {
      const missing = new Set(await missingMysqlTables(one, names))
      for (const [name, statements] of Object.entries(needed)) {
        if (missing.has(name)) await create(one, name, statements)
      }
      for (const [name, statements] of Object.entries(optional)) {
        if (missing.has(name)) await whereAllowed(() => create(one, name, statements))
      }
      await whereAllowed(() => createTriggers(one))
    } finally {
      await sql`select release_lock(${lockName})`.execute(one).catch(() => {})
    }
  })
}

/** Those of the tables that do not exist, and those that only MySQL needs. */
export async function missingMysqlTables<Schema>(
  db: Kysely<Schema>,
  names: readonly string[],
): Promise<readonly string[]> {
  const wanted = [...new Set([...names, ...Object.keys(mysqlOnlyTables)])]
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = database() and table_name in ${listOf(wanted)}`.execute(db)
  const found = new Set(rows.map(({ name }) => name))
  return wanted.filter((name) => !found.has(name))
}

async function isComplete<Schema>(db: Kysely<Schema>, names: readonly string[]): Promise<boolean> {
  if ((await missingMysqlTables(db, names)).length > 0) return false
  return (await missingTriggers(db)).length === 0
}

/** MySQL rejects a longer one. */
const lockName = sql`left(concat('postern.', database()), 64)`

async function lock<Schema>(one: Kysely<Schema>): Promise<void> {
  // Each wait is shorter than the timeout of a statement.
  for (let attempt = 0; attempt < 60; attempt++) {
    const { rows } = await sql<{ held: unknown }>`
      select get_lock(${lockName}, 0.5) as held`.execute(one)
    if (rows[0]?.held === true) return
  }
  const reason = 'another process creates tables in this database: start again when it is done'
  throw new Fault('database', { reason })
}

async function create<Schema>(one: Kysely<Schema>, name: string, statements: string) {
  const statement = sql.raw(mysqlTable(statements))
  if (name in mysqlOnlyTables) {
    await statement.execute(one)
    return
  }
  // First, so that an interruption leaves no table of ours that looks like one of another product.
  const row = `create ${name}`
  await sql`insert into postern_migration (name) values (${row})
    on duplicate key update name = postern_migration.name`.execute(one)
  try {
    await statement.execute(one)
  } catch (error) {
    await sql`delete from postern_migration where name = ${row}`.execute(one)
    throw error
  }
}

async function missingTriggers<Schema>(db: Kysely<Schema>) {
  const { rows } = await sql<{ name: string }>`
    select trigger_name as name from information_schema.triggers
    where trigger_schema = database() and event_object_table = 'postern_audit'`.execute(db)
  const found = new Set(rows.map(({ name }) => name))
  return appendOnlyTriggers.filter(({ name }) => !found.has(name))
}

async function createTriggers<Schema>(one: Kysely<Schema>): Promise<void> {
  for (const { statement } of await missingTriggers(one)) await sql.raw(statement).execute(one)
}

/**
 * Whether this user can delete rows of the audit log: the server denied the triggers, and not the
 * deletion. It hides triggers from a user without the privilege, so a row of its own, rolled back,
 * shows whether one rejects it.
 */
export async function canDeleteAudit<Schema>(db: Kysely<Schema>): Promise<boolean> {
  if ((await missingTriggers(db)).length === 0) return false
  const done = new Error('rolled back')
  try {
    await db.transaction().execute(async (inside) => {
      await sql`insert into postern_audit (actor_kind, actor, origin, action, subject)
        values ('', '', '', '', '')`.execute(inside)
      await sql`delete from postern_audit where id = last_insert_id()`.execute(inside)
      throw done
    })
    return false
  } catch (error) {
    return error === done
  }
}

/** Denied (42000), or a server that is read-only (25006, HY000 with its option). */
async function whereAllowed(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string }
    const isDenied = /command denied|access denied|SUPER privilege/i.test(message ?? '')
    if (code !== '25006' && !isDenied) throw error
  }
}
