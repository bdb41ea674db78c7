import { setTimeout as pause } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { type Backend, backendOf } from './backend.ts'
import type { SoftDelete } from './dialect.ts'
import type { OptionalTable, Schema } from './tables.ts'

/** Runs queries: the database, or a transaction in it. */
export type Db = Kysely<Schema>
export type Inside = Transaction<Schema>

/** A connection to the accounts, as the stores use it. */
export interface Database {
  readonly kind: Backend['kind']
  readonly db: Db
  /** Creates missing tables, if allowed, and reads the columns; queries the database once. */
  shapes(): Promise<TableShapes>
  close(): Promise<void>
}

/** What differs between the databases of one product family. */
export interface TableShapes {
  readonly users: SoftDelete
  readonly roles: SoftDelete
  /** The optional tables that exist and that this user of the database may read. */
  readonly optional: ReadonlySet<OptionalTable>
}

/** Whether a table exists, also one that this user may not read; on MySQL that is a Fault. */
export function tableExists(db: Db, name: OptionalTable): Promise<boolean> {
  return backendOf(db).catalog.tableExists(db, name)
}

/** Throws a Fault unless these optional tables can be used: a gateway starts without them. */
export function requireTables(
  { optional }: Pick<TableShapes, 'optional'>,
  ...tables: readonly OptionalTable[]
): void {
  const table = tables.find((each) => !optional.has(each))
  if (table === undefined) return
  const reason = `table ${table} is missing, or this database user may not read it: run "postern db migrate", or grant the table`
  throw new Fault('database', { reason })
}

/**
 * Turns every error of the driver into a Fault that keeps only its message and code: the rest can
 * hold whole rows and parameters.
 */
export async function withFaults<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw databaseFault(error)
  }
}

export function databaseFault(error: unknown): Fault | Invalid {
  if (error instanceof Fault || error instanceof Invalid) return error
  // An error about several addresses has its text only in its parts.
  const innermostError = error instanceof AggregateError ? error.errors.at(-1) : error
  const message = innermostError instanceof Error ? innermostError.message : String(innermostError)
  const code = errorCode(innermostError)
  const cause = Object.assign(new Error(message), { code })
  return new Fault('database', { cause, reason: `database: ${conflicts[code ?? ''] ?? message}` })
}

const deadlock =
  'deadlock with a concurrent change of the same rows; this change was rolled back: try again'
/** What the servers say in words of their own, or of transactions that an operator does not know. */
const conflicts: Readonly<Record<string, string>> = {
  '40001': deadlock,
  '40P01': deadlock,
  '55P03':
    'lock timeout: another transaction holds the same rows; this change was rolled back: try again',
}

/** Whether the database rolled back because of a concurrent change: a repetition may succeed. */
function isConflict(error: unknown): boolean {
  return (errorCode(error instanceof Fault ? error.cause : error) ?? '') in conflicts
}

/** Whether the database is unreachable, as opposed to having rejected a statement. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Fault)) return false
  return isConnectionError(error.cause)
}

/**
 * The SQLSTATE with which the database rejected a value (too long, a constraint, a trigger), as
 * opposed to the statement. A retry would fail again.
 */
export function refusedContent(error: unknown): string | undefined {
  const code = error instanceof Fault ? errorCode(error.cause) : undefined
  return code !== undefined && /^(?:22...|23...|45000|P0001)$/.test(code) ? code : undefined
}

/** Whether a unique index rejected a value. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof Fault && errorCode(error.cause) === '23505'
}

/** Whether a table does not exist. */
export function isMissingTable(error: unknown): boolean {
  const code = error instanceof Fault ? errorCode(error.cause) : undefined
  return code === '42P01' || code === '42S02'
}

/** Whether an error of the driver leaves its connection unusable. */
export function isConnectionError(error: unknown): boolean {
  const code = errorCode(error)
  // Not a SQLSTATE: of the system or the driver. 08 and 57P: connection lost. 53: server too full.
  return code === undefined || !/^[0-9FHPX][0-9A-Z]{4}$/.test(code) || /^(?:08|57P|53)/.test(code)
}

function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

const maxAttempts = 5
/** PostgreSQL looks for a deadlock after a second, and a lock of MySQL times out after that. */
const maxMs = 3000
const firstPauseMs = 10

/**
 * Runs `work` in a transaction, and again when the database rolled it back because of a concurrent
 * change. So `work` changes nothing but the database. Every error of the driver becomes a Fault.
 */
export function inTransaction<Result>(
  { db, shapes }: Pick<Database, 'db' | 'shapes'>,
  work: (inside: Inside, shapes: TableShapes) => Promise<Result>,
): Promise<Result> {
  return withFaults(async () => {
    const shape = await shapes()
    return repeated(() => db.transaction().execute((inside) => work(inside, shape)))
  })
}

/** Repeats one transaction or one statement, a few times. A lost connection may have committed. */
export async function repeated<Result>(work: () => Promise<Result>): Promise<Result> {
  const start = performance.now()
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const isLast = attempt === maxAttempts || performance.now() - start > maxMs
      if (isLast || !isConflict(error)) throw error
    }
    // Two that met must not meet again.
    await pause(Math.random() * firstPauseMs * 2 ** attempt)
  }
}
