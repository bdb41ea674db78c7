import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { live } from '../database/soft-delete.ts'
import { isStorable } from '../database/storable-text.ts'

/** The names of live accounts that equal one of `names`, also in another letter case. */
export async function knownNames(
  { db, shapes }: Database,
  names: readonly string[],
): Promise<readonly string[]> {
  const asked = JSON.stringify(names.filter(isStorable))
  return withFaults(async () => {
    const { users } = await shapes()
    const { rows } = await sql<{ username: string }>`
      with asked as (select name from json_array_elements_text(${asked}::json) as asked (name))
      select distinct u.username from sys_user u
      where ${live('u', users)} and (
        u.username in (select name from asked)
        or lower(u.username) in (select lower(name) from asked))`.execute(db)
    return rows.map(({ username }) => username)
  })
}
