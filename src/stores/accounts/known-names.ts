import { type Database, withFaults } from '../database/database.ts'
import { isStorable, listOf, live, tableOf } from '../database/dialect.ts'

/** The names of live accounts that equal one of `names`, also in another letter case. */
export async function knownNames(
  { db, shapes }: Database,
  names: readonly string[],
): Promise<readonly string[]> {
  const candidates = names.filter(isStorable)
  return withFaults(async () => {
    const { users } = await shapes()
    const lowered = tableOf(
      'candidates',
      { name: 'text' },
      candidates.map((name) => ({ name })),
    )
    const rows = await db
      .selectFrom('sys_user as u')
      .select('u.username')
      .where(live('u', users))
      .where(({ eb, fn, or, selectFrom }) =>
        or([
          eb('u.username', 'in', listOf(candidates)),
          eb(
            fn<string>('lower', ['u.username']),
            'in',
            selectFrom(lowered).select(({ fn: of }) =>
              of<string>('lower', ['candidates.name']).as('name'),
            ),
          ),
        ]),
      )
      .execute()
    return [...new Set(rows.flatMap(({ username }) => username ?? []))]
  })
}
