import { sql } from 'kysely'
import { backendOf } from './backend.ts'
import { type Db, databaseFault, withFaults } from './database.ts'

/** What a gateway does with the tables that every gateway has. */
const statements: Readonly<Record<string, string>> = {
  'select on sys_role': 'select * from sys_role',
  'select on sys_user': 'select * from sys_user',
  'insert on sys_login_log': 'insert into sys_login_log select * from sys_login_log',
  'insert on postern_login_attempt':
    'insert into postern_login_attempt select * from postern_login_attempt',
  'delete on postern_login_attempt': 'delete from postern_login_attempt',
  'select on postern_revocation': 'select * from postern_revocation',
  'insert on postern_revocation': 'insert into postern_revocation select * from postern_revocation',
  'update on postern_revocation': 'update postern_revocation set name = name',
  'delete on postern_revocation': 'delete from postern_revocation',
}

/**
 * The rights to the tables that this user of the database lacks. EXPLAIN checks them without running
 * the statement. The tables must exist.
 */
export async function missingRights(db: Db): Promise<readonly string[]> {
  const missing: string[] = []
  for (const [right, statement] of Object.entries(statements)) {
    try {
      await withFaults(() => sql.raw(`explain ${statement}`).execute(db))
    } catch (error) {
      if (!isDenied(error)) throw error
      missing.push(right)
    }
  }
  return missing
}

/** SQLSTATE of PostgreSQL, and that of MySQL, which it has for other errors too. */
function isDenied(error: unknown): boolean {
  const { message, cause } = databaseFault(error)
  const { code } = Object(cause)
  return code === '42501' || (code === '42000' && /denied/.test(message))
}

/** Whether the server accepts no writes: a standby, or one that was set to read-only. */
export function isReadOnlyServer(db: Db): Promise<boolean> {
  return withFaults(() => backendOf(db).catalog.isReadOnly(db))
}

/** Whether this user may create tables; `undefined` where the server does not tell. */
export function mayCreateTables(db: Db): Promise<boolean | undefined> {
  return withFaults(() => backendOf(db).catalog.mayCreateTables(db))
}
