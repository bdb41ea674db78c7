import { type Dialect, Kysely, PGliteDialect, PostgresDialect } from 'kysely'
import { isMysqlUrl } from '../../database-url.ts'
import type { Fault, Invalid } from '../../errors.ts'
import { openEmbedded } from '../embedded/embedded-database.ts'
import { databaseFault, isUnreachable, withFaults } from './database-fault.ts'
import { isMysql } from './dialect.ts'
import { migrate, optionalTableNames } from './migrations.ts'
import { mysqlDialect } from './mysql-compiler.ts'
import { canDeleteAudit } from './mysql-migrations.ts'
import { createMysqlPool } from './mysql-pool.ts'
import { createPool, type PoolOptions } from './postgres-pool.ts'
import { repeatingDialect } from './repeating-dialect.ts'
import type { Schema } from './schema.ts'
import { singleConnection } from './single-connection.ts'
import { existingTables, readTableShapes, type TableShapes } from './table-shapes.ts'

export interface DatabaseOptions {
  /** A `postgres://`, `mysql://` or `mariadb://` address; without one the embedded database is used. */
  readonly url?: string
  /** Where the embedded database lives. */
  readonly directory: string
  /** Whether the embedded database may be created in a directory of another user. */
  readonly mayCreate?: boolean
  /** `false`: the embedded database is used only while another process has it open. */
  readonly mayHost?: boolean
  /** Called before the embedded database is created, which takes seconds. */
  readonly onCreate?: () => void
  readonly poolSize: number
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  /** Whether to create missing tables. Unset: `auto`. */
  readonly migrate?: 'auto' | 'never'
  /** `later`: tables are neither created nor checked before `shapes` is called. */
  readonly prepare?: 'later'
  /**
   * Called when the server is unreachable. With it, an unreachable server does not keep the gateway
   * from starting: the first query that reaches it prepares the tables.
   */
  readonly onUnreachable?: (fault: Fault | Invalid) => void
  /** Called when nothing keeps this user of the database from changing the audit log. */
  readonly onUnguardedAudit?: () => void
}

export interface Database {
  readonly kind: 'embedded' | 'postgres' | 'mysql'
  readonly db: Kysely<Schema>
  /** Creates missing tables, if allowed, and reads the columns; queries the database once. */
  shapes(): Promise<TableShapes>
  close(): Promise<void>
}

const LOOK_AGAIN_MS = 10_000

/**
 * Opens the accounts' database, creates missing tables and checks the others. Throws `Invalid` with
 * every incompatible column, and a Fault when the database cannot be opened.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const db = new Kysely<Schema>({ dialect: await withFaults(() => dialectFor(options)) })

  let preparing: Promise<TableShapes> | undefined
  let nextLookAt = 0
  async function shapes(): Promise<TableShapes> {
    preparing ??= withFaults(() => prepare(db, options)).catch((error) => {
      preparing = undefined
      throw error
    })
    const known = await preparing
    if (known.optional.size < optionalTableNames.length) lookAgain(known)
    return known
  }

  /** An operator may create the tables that a running gateway lacks. No caller waits for this. */
  function lookAgain(known: TableShapes): void {
    const now = performance.now()
    if (nextLookAt === 0) nextLookAt = now + LOOK_AGAIN_MS
    if (now < nextLookAt) return
    nextLookAt = now + LOOK_AGAIN_MS
    existingTables(db).then(
      (optional) => {
        preparing = Promise.resolve({ ...known, optional })
      },
      () => {},
    )
  }

  try {
    if (options.prepare !== 'later') await shapes()
  } catch (error) {
    if (options.onUnreachable === undefined || !isUnreachable(error)) {
      await db.destroy()
      throw error
    }
    options.onUnreachable(databaseFault(error))
  }

  return {
    kind: kindOf(options.url),
    db,
    shapes,
    close: () => withFaults(() => db.destroy()),
  }
}

async function prepare(
  db: Kysely<Schema>,
  { migrate: allowed, onUnguardedAudit }: DatabaseOptions,
): Promise<TableShapes> {
  if (allowed !== 'never') await migrate(db)
  const shapes = await readTableShapes(db)
  if (onUnguardedAudit !== undefined && isMysql(db) && (await canDeleteAudit(db))) {
    onUnguardedAudit()
  }
  return shapes
}

async function dialectFor(options: DatabaseOptions) {
  const { url, onUnreachable = () => {} } = options
  if (url === undefined) {
    return singleConnection(new PGliteDialect({ pglite: await openEmbedded(options) }))
  }
  return serverDialect({ ...options, url, onBroken: onUnreachable })
}

function kindOf(url: string | undefined): Database['kind'] {
  if (url === undefined) return 'embedded'
  return isMysqlUrl(url) ? 'mysql' : 'postgres'
}

/** Connections to the server that this URL names. */
export async function serverDialect(options: PoolOptions): Promise<Dialect> {
  return repeatingDialect(
    isMysqlUrl(options.url)
      ? mysqlDialect({ pool: await createMysqlPool(options) })
      : new PostgresDialect({ pool: await createPool(options) }),
  )
}
