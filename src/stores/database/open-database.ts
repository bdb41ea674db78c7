import { type Dialect, Kysely } from 'kysely'
import { isMysqlUrl } from '../../kernel/database-url.ts'
import { type Backend, type BackendOptions, backendOf } from './backend.ts'
import {
  type Database,
  databaseFault,
  isUnreachable,
  type TableShapes,
  withFaults,
} from './database.ts'
import { embedded } from './embedded-backend.ts'
import { migrate } from './migrations.ts'
import { mysql } from './mysql-backend.ts'
import { postgres } from './postgres-backend.ts'
import type { PoolOptions } from './postgres-pool.ts'
import { existingTables, readTableShapes } from './table-shapes.ts'
import { optionalTableNames, type Schema } from './tables.ts'

export interface DatabaseOptions extends BackendOptions {
  /** Whether to create missing tables. Unset: `auto`. */
  readonly migrate?: 'auto' | 'never'
  /** `later`: tables are neither created nor checked before `shapes` is called. */
  readonly prepare?: 'later'
  /** Called when nothing keeps this user of the database from changing the audit log. */
  readonly onUnguardedAudit?: () => void
}

const LOOK_AGAIN_MS = 10_000

/**
 * Opens the accounts' database, creates missing tables and checks the others. Throws `Invalid` with
 * every incompatible column, and a Fault when the database cannot be opened.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { kind, connect } = backendFor(options.url)
  const db = new Kysely<Schema>({ dialect: await withFaults(() => connect(options)) })

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
    kind,
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
  if (onUnguardedAudit !== undefined && (await backendOf(db).catalog.canDeleteAudit(db))) {
    onUnguardedAudit()
  }
  return shapes
}

function backendFor(url: string | undefined): Backend {
  if (url === undefined) return embedded
  return isMysqlUrl(url) ? mysql : postgres
}

/** Connections to the server that this URL names. */
export function serverDialect({ onBroken, ...options }: PoolOptions): Promise<Dialect> {
  const { connect } = backendFor(options.url)
  return connect({ ...options, directory: '', onUnreachable: onBroken })
}
