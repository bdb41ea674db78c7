import { Fault } from '../../kernel/errors.ts'
import type { Actor } from '../audit/audit.ts'
import { withFaults } from '../database/database.ts'
import { migrate, missingTables, wasCreatedHere } from '../database/migrations.ts'
import { type DatabaseOptions, openDatabase } from '../database/open-database.ts'
import { hasRoles, seedRoles } from './seed.ts'

/**
 * Creates missing tables, regardless of `database.migrate`, and checks all of them. Returns which it
 * created, and the keys of the initial roles. Throws `Invalid` with every incompatible column, and a
 * Fault when the database is unreachable or denies it.
 */
export async function prepareTables(options: DatabaseOptions, actor: Actor) {
  const database = await openDatabase({ ...options, prepare: 'later' })
  const { db, shapes } = database
  try {
    const made = await withFaults(async () => {
      const absent = await missingTables(db)
      if (absent.length === 0) return absent
      await migrate(db)
      // Without the permission, it creates no optional table and reports no error.
      const [denied] = await missingTables(db)
      if (denied === undefined) return absent
      const reason = `table ${denied} is still missing: run this command on a writable server, as a user that may create tables`
      throw new Fault('database', { reason })
    })
    await shapes()
    // Another product fills the table of roles that it created.
    const isOurs = await withFaults(async () => !(await hasRoles(db)) && wasCreatedHere(db))
    return { made, roles: isOurs ? await seedRoles(database, actor) : [] }
  } finally {
    await database.close()
  }
}
