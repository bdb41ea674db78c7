import { type Database, withFaults } from '../database/database.ts'
import { isStorable, listOf, live, tableOf } from '../database/dialect.ts'

/** The names of live accounts that equal one of `names`, also in another letter case. */
export async function knownNames(
  { db, shapes }: Database,
  names: readonly string[],
): Promise<readonly string[]> {
  const asked = names.filter(isStorable)
  return withFaults(async () => {
    const { users } = await shapes()
    const lowered = tableOf(
      'asked',
      { name: 'text' },
      asked.map((name) => ({ name })),
    )
    const rows = await db
      .selectFrom('sys_user as u')
      .select('u.username')
      .where(live('u', users))
      .where(({ eb, fn, or, selectFrom }) =>
        or([
          eb('u.username', 'in', listOf(asked)),
          eb(
            fn<string>('lower', ['u.username']),
            'in',
            selectFrom(lowered).select(({ fn: of }) =>
              of<string>('lower', ['asked.name']).as('name'),
            ),
          ),
        ]),
      )
      .execute()
    return [...new Set(rows.flatMap(({ username }) => username ?? []))]
  })
}
