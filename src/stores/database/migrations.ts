import { backendOf } from './backend.ts'
import type { Db } from './database.ts'
import { optionalTables } from './tables.ts'

/**
 * Creates missing tables with go-admin v2.4's columns and never changes an existing one. Several
 * replicas can run it at once. If no table is missing, it needs no permission to create tables.
 */
export function migrate(db: Db): Promise<void> {
  return backendOf(db).catalog.migrate(db)
}

/** The tables that `migrate` would create. */
export async function missingTables(db: Db): Promise<readonly string[]> {
  const { existing, tables } = backendOf(db).catalog
  const found = new Set(await existing(db, tables))
  return tables.filter((name) => !found.has(name))
}

/** Whether a gateway starts without this table. */
export function isOptionalTable(name: string): boolean {
  return name in optionalTables
}

/** Whether a migration created the table of roles: this one, or an earlier one that was interrupted. */
export async function wasCreatedHere(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('postern_migration')
    .select('name')
    .where('name', '=', 'create sys_role')
    .executeTakeFirst()
  return row !== undefined
}
