import { sql } from 'kysely'
import { Fault } from '../../kernel/errors.ts'
import type { Db } from './database.ts'
import { exactCollation } from './mysql-session.ts'
import {
  columnLines,
  everyTable,
  lockTable,
  migrationTable,
  optionalTables,
  quotedNames,
  type Table,
  tables,
} from './tables.ts'

/** What each table's row says is in these two, so they have none. */
const bookkeeping: Readonly<Record<string, Table>> = { ...lockTable, ...migrationTable }
const required: Readonly<Record<string, Table>> = { ...bookkeeping, ...tables }

/**
 * Creates missing tables. Every statement commits by itself on MySQL, so each table is one statement,
 * and a run that was interrupted goes on where it stopped. The named lock lets one replica do it.
 */
export async function migrateMysql(db: Db): Promise<void> {
  if (await isComplete(db)) return
  await db.connection().execute(async (one) => {
    await lock(one)
    try {
      const found = new Set(await existingTables(one, mysqlTables))
      for (const [name, table] of Object.entries(required)) {
        if (!found.has(name)) await create(one, name, table)
      }
      for (const [name, table] of Object.entries(optionalTables)) {
        if (!found.has(name)) await whereAllowed(() => create(one, name, table))
      }
      await whereAllowed(() => createTriggers(one))
    } finally {
      await sql`select release_lock(${lockName})`.execute(one).catch(() => {})
    }
  })
}

export const mysqlTables = Object.keys(everyTable)

export async function existingTables(db: Db, names: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = database() and table_name in (${sql.join(names)})`.execute(db)
  return rows.map(({ name }) => name)
}

async function isComplete(db: Db): Promise<boolean> {
  if ((await existingTables(db, mysqlTables)).length < mysqlTables.length) return false
  return (await missingTriggers(db)).length === 0
}

/** MySQL rejects a longer one. */
const lockName = sql`left(concat('postern.', database()), 64)`

async function lock(one: Db): Promise<void> {
  // Each wait is shorter than the timeout of a statement.
  for (let attempt = 0; attempt < 60; attempt++) {
    const { rows } = await sql<{ held: unknown }>`
      select get_lock(${lockName}, 0.5) as held`.execute(one)
    if (rows[0]?.held === true) return
  }
  const reason = 'another process creates tables in this database: start again when it is done'
  throw new Fault('database', { reason })
}

async function create(one: Db, name: string, table: Table): Promise<void> {
  const statement = sql.raw(createTable(name, table))
  if (name in bookkeeping) {
    await statement.execute(one)
    return
  }
  // First, so that an interruption leaves no table of ours that looks like one of another product.
  const row = { name: `create ${name}` }
  await one
    .insertInto('postern_migration')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  try {
    await statement.execute(one)
  } catch (error) {
    await one.deleteFrom('postern_migration').where('name', '=', row.name).execute()
    throw error
  }
}

const columnTexts = {
  // A counter is filled from `postern_lock`: a second column that counts is not possible.
  ...{ serial: 'bigint auto_increment', counter: 'bigint', bigint: 'bigint', integer: 'integer' },
  // A plain `text` holds 64 kB.
  ...{ varchar: 'varchar', text: 'mediumtext', boolean: 'boolean', uuid: 'char(36)', date: 'date' },
  // `timestamp` ends in 2038.
  ...{ time: 'datetime(3)', mark: 'datetime(3)' },
  ...{ now: 'current_timestamp(3)', clock: 'current_timestamp(3)', zero: '0' },
}

/** One statement, indexes included: a table exists completely or not at all. */
function createTable(name: string, table: Table): string {
  const indexes = table.indexes.map(({ name: index, columns, unique }) =>
    unique === 'live'
      ? liveKey(`${name}_${index}`, columns[0] ?? '')
      : `${unique === 'all' ? 'unique ' : ''}key ${name}_${index} (${quotedNames(columns)})`,
  )
  const parts = [...columnLines(table, columnTexts), keyOf(table), ...indexes].join(', ')
  return `create table if not exists ${name} (${parts})
    engine = InnoDB character set utf8mb4 collate ${exactCollation}`
}

/** MySQL cannot index some rows of a table only: the key is a column that deleted rows lack. */
function liveKey(index: string, column: string): string {
  return `live_${column} varchar(128) as (case when deleted_at is null then ${column} end) stored,
    unique key ${index} (live_${column})`
}

/** A key has at most 3,072 bytes, four for a character, so a longer text is in it by its digest. */
function keyOf({ columns, key }: Table): string {
  const long = key.find((column) => (columns[column]?.length ?? 0) > 768)
  if (long === undefined) return `primary key (${quotedNames(key)})`
  const digested = key.map((column) => (column === long ? `${long}_digest` : column))
  return `${long}_digest char(64) as (sha2(${long}, 256)) stored, unique key (${quotedNames(digested)})`
}

/** Rejects every change of a row. `truncate` fires no trigger: it needs the privilege to drop tables. */
const appendOnlyTriggers = ['update', 'delete'].map((event) => ({
  name: `postern_audit_no_${event}`,
  statement: `create trigger postern_audit_no_${event} before ${event} on postern_audit for each row
    signal sqlstate '45000' set message_text = 'postern_audit is append-only'`,
}))

async function missingTriggers(db: Db) {
  const { rows } = await sql<{ name: string }>`
    select trigger_name as name from information_schema.triggers
    where trigger_schema = database() and event_object_table = 'postern_audit'`.execute(db)
  const found = new Set(rows.map(({ name }) => name))
  return appendOnlyTriggers.filter(({ name }) => !found.has(name))
}

async function createTriggers(one: Db): Promise<void> {
  for (const { statement } of await missingTriggers(one)) await sql.raw(statement).execute(one)
}

/**
 * Whether this user can delete rows of the audit log: the server denied the triggers, and not the
 * deletion. It hides triggers from a user without the privilege, so a row of its own, rolled back,
 * shows whether one rejects it.
 */
export async function canDeleteAudit(db: Db): Promise<boolean> {
  if ((await missingTriggers(db)).length === 0) return false
  const done = new Error('rolled back')
  try {
    await db.transaction().execute(async (inside) => {
      await inside
        .insertInto('postern_audit')
        .values({ actor_kind: '', actor: '', origin: '', action: '', subject: '' })
        .execute()
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
