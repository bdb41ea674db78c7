import { type DatabaseOptions, openDatabase } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { migrate, missingTables } from '../database/migrations.ts'
import { seedRoles } from './seed.ts'

/** What was made: tables, and the keys of the first roles. */
interface PreparedTables {
  readonly made: readonly string[]
  readonly roles: readonly string[]
}

/**
 * Makes absent tables, whatever `database.migrate` says, and checks all of them. Throws `Invalid`
 * with every difference when they do not fit, and a Fault when the database is away or says no.
 */
export async function prepareTables(options: DatabaseOptions): Promise<PreparedTables> {
  const database = await openDatabase({ ...options, prepare: 'later' })
  const { db, shapes } = database
  try {
    const made = await withFaults(async () => {
      const absent = await missingTables(db)
      if (absent.length > 0) await migrate(db)
      return absent
    })
    await shapes()
    // A table of roles that somebody else made is theirs to fill.
    const roles = made.includes('sys_role') ? await seedRoles(database) : []
    return { made, roles }
  } finally {
    await database.close()
  }
}
