import { sql } from 'kysely'
import { type Database, inTransaction } from './database.ts'
import { listOf, tableOf } from './dialect.ts'

interface Seen {
  readonly id: string
  /** Milliseconds since the epoch, to the minute. */
  readonly seenAt: number
}

/**
 * Dates when tokens were last used. Skips rows that another gateway updates at this moment: two must not
 * wait for each other.
 */
export async function markSeen(
  database: Pick<Database, 'db' | 'shapes'>,
  where: 'postern_session' | 'postern_service_token',
  seen: readonly Seen[],
): Promise<void> {
  // The one table has both columns as well.
  const table = where as 'postern_service_token'
  const latest = new Map<string, number>()
  for (const { id, seenAt } of seen) latest.set(id, Math.max(latest.get(id) ?? 0, seenAt))
  await inTransaction(database, async (inside) => {
    const tokens = inside.selectFrom(table).where('token_id', 'in', listOf([...latest.keys()]))
    const free = tokens.select(['token_id as id', 'seen_ms as known']).forUpdate().skipLocked()
    const rows = await free.execute()
    const older = rows.flatMap(({ id, known }) => {
      const at = latest.get(id) ?? 0
      return at > Number(known ?? 0) ? [{ id, at }] : []
    })
    if (older.length === 0) return
    const times = tableOf('known', { id: 'text', at: 'bigint' }, older)
    const seenAt = inside
      .selectFrom(times)
      .select('at')
      .where('id', '=', sql.ref<string>('token_id'))
    const update = inside.updateTable(table).set({ seen_ms: seenAt })
    await update.where('token_id', 'in', listOf(older.map(({ id }) => id))).execute()
  })
}
