import type { Expression } from 'kysely'
import type { Db } from '../database/database.ts'

/** How many recovery codes of a user are not used yet, as `many`. */
export function codesLeft(db: Db, userId: string | Expression<string>) {
  const own = db.selectFrom('postern_recovery_code as c').where('c.user_id', '=', userId)
  return own.where('c.used_ms', 'is', null).select(({ fn }) => fn.countAll<string>().as('many'))
}
