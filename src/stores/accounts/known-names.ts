import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { listOf, tableOf } from '../database/dialect.ts'
import { live } from '../database/soft-delete.ts'
import { isStorable } from '../database/storable-text.ts'

/** The names of live accounts that equal one of `names`, also in another letter case. */
export async function knownNames(
  { db, shapes }: Database,
  names: readonly string[],
): Promise<readonly string[]> {
  const asked = names.filter(isStorable)
  return withFaults(async () => {
    const { users } = await shapes()
    const { rows } = await sql<{ username: string }>`
      select u.username from sys_user u
      where ${live('u', users)} and (
        u.username in ${listOf(asked)}
        or lower(u.username) in (select lower(name) from ${tableOf(
          'asked',
          { name: 'text' },
          asked.map((name) => ({ name })),
        )}))`.execute(db)
    return [...new Set(rows.map(({ username }) => username))]
  })
}
