import { Kysely, sql } from 'kysely'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { readJson } from '../../kernel/json.ts'
import { backendOf } from '../database/backend.ts'
import { withFaults } from '../database/database.ts'
import { serverDialect } from '../database/open-database.ts'
import type { PoolOptions } from '../database/postgres-pool.ts'
import { createRedis, type RedisSettings } from '../redis/redis.ts'
import { readStoredText } from './document/stored-text.ts'

/** One row as casbin's adapters keep it: a type, and values without a name. */
export interface CasbinRow {
  readonly ptype: string
  /** `v0`, `v1` and so on, empty ones at the end left out. */
  readonly values: readonly string[]
  /** Where it was found, for messages. */
  readonly place: string
}

/** The tables of go-admin, the newer one first. */
const casbinTables = ['casbin_rule', 'sys_casbin_rule'] as const

const valueColumns = ['v0', 'v1', 'v2', 'v3', 'v4', 'v5', 'v6', 'v7'] as const

/** Opens the database of another product, and creates nothing in it. */
export async function openForeignDatabase(
  options: Omit<PoolOptions, 'onBroken'>,
): Promise<{ readonly db: Kysely<unknown>; readonly close: () => Promise<void> }> {
  const db = new Kysely<unknown>({
    dialect: await serverDialect({ ...options, onBroken: () => {} }),
  })
  return { db, close: () => db.destroy() }
}

/** Opens the database for the time of some work. */
export async function withForeignDatabase<Result>(
  options: Omit<PoolOptions, 'onBroken'>,
  work: (db: Kysely<unknown>) => Promise<Result>,
): Promise<Result> {
  const { db, close } = await openForeignDatabase(options)
  try {
    return await work(db)
  } finally {
    await close()
  }
}

/**
 * The policy rows of a go-admin database, in the order of their texts. Throws `Invalid` when no such
 * table exists, or both contain rows and `named` does not choose one.
 */
export async function readCasbinTable<Schema>(
  db: Kysely<Schema>,
  named?: string,
): Promise<readonly CasbinRow[]> {
  return withFaults(async () => {
    const found = []
    for (const { name, columns } of await findCasbinTables(db, named)) {
      found.push({ rows: await rowsOf(db, name, columns) })
    }
    const filled = found.filter(({ rows }) => rows.length > 0)
    if (filled.length > 1) {
      const message = `both ${casbinTables.join(' and ')} contain rows: choose one with --table or policy.follow.table`
      throw new Invalid([{ file: 'database.url', message }])
    }
    return filled[0]?.rows ?? []
  })
}

/** A table of go-admin that exists. */
export interface CasbinTable {
  readonly name: string
  readonly columns: ReadonlySet<string>
}

/** The tables of go-admin that exist, or the named one. Throws `Invalid` when it does not exist. */
export async function findCasbinTables<Schema>(
  db: Kysely<Schema>,
  named?: string,
): Promise<readonly CasbinTable[]> {
  const columns = await columnsOf(db)
  const found = casbinTables
    .filter((name) => named === undefined || name === named)
    .flatMap((name) => {
      const present = columns.get(name)
      return present === undefined ? [] : [{ name, columns: present }]
    })
  if (found.length === 0) {
    const message = `the database has no table ${named ?? casbinTables.join(' or ')}`
    throw new Invalid([{ file: 'database.url', message }])
  }
  return found
}

async function columnsOf<Schema>(db: Kysely<Schema>): Promise<Map<string, ReadonlySet<string>>> {
  const { rows } = await sql<{ table_name: string; column_name: string }>`
    select table_name as "table_name", column_name as "column_name" from information_schema.columns
    where ${backendOf(db).catalog.isHere}
    and table_name in (${sql.join([...casbinTables])})`.execute(db)
  const byTable = Map.groupBy(rows, ({ table_name }) => table_name)
  return new Map(
    Array.from(byTable, ([table, some]) => [
      table,
      new Set(some.map(({ column_name }) => column_name)),
    ]),
  )
}

async function rowsOf<Schema>(
  db: Kysely<Schema>,
  table: string,
  columns: ReadonlySet<string>,
): Promise<readonly CasbinRow[]> {
  const missing = ['ptype', 'v0', 'v1', 'v2'].filter((column) => !columns.has(column))
  if (missing.length > 0) {
    const message = `table ${table} has no column ${missing.join(', ')}`
    throw new Invalid([{ file: 'database.url', message }])
  }
  const names = ['ptype', ...valueColumns.filter((column) => columns.has(column))]
  const refs = sql.join(names.map((name) => sql.ref(name)))
  const { rows } = await sql<Record<string, string | null>>`
    select ${refs} from ${sql.table(table)} order by ${refs}`.execute(db)
  return rows.map((row, index) => casbinRow(row, `${table} row ${index + 1}`))
}

/**
 * The rows that casbin-redis-adapter keeps: one JSON array under one key. Throws `Invalid` when the
 * key holds anything else, and a Fault when the key does not exist.
 */
export async function readAdapterRows(
  settings: RedisSettings,
  key: string,
): Promise<readonly CasbinRow[]> {
  const redis = createRedis(settings)
  try {
    await redis.connect()
    const text = await readStoredText(redis, key)
    if (text === undefined)
      throw new Fault('redis', { reason: `Redis has no key ${JSON.stringify(key)}` })
    return parseAdapterRows(text, key)
  } finally {
    await redis.close()
  }
}

function parseAdapterRows(text: string, key: string): readonly CasbinRow[] {
  const rows = readJson(text)
  // A nested object or list would become text that is in no policy.
  const isValue = (value: unknown) => value === null || /^(?:string|number)$/.test(typeof value)
  const isRow = (row: unknown): row is Record<string, unknown> =>
    typeof row === 'object' &&
    row !== null &&
    !Array.isArray(row) &&
    Object.values(row).every(isValue)
  if (!Array.isArray(rows) || !rows.every(isRow)) {
    const message = 'is not the JSON array of {ptype, v0, v1, …} that casbin-redis-adapter writes'
    throw new Invalid([{ file: `the Redis key ${JSON.stringify(key)}`, message }])
  }
  return rows.map((row, index) => casbinRow(row, `${key}[${index}]`))
}

function casbinRow(row: Readonly<Record<string, unknown>>, place: string): CasbinRow {
  const texts = ['ptype', ...valueColumns].map((column) => {
    const value = row[column]
    return value === null || value === undefined ? '' : String(value)
  })
  const [ptype = '', ...values] = texts
  const last = values.findLastIndex((value) => value !== '')
  return { ptype, values: values.slice(0, last + 1), place }
}
