import { type Kysely, sql } from 'kysely'
import { listOf, tableOf } from './dialect.ts'
import { inTransaction } from './repeated.ts'
import type { Schema } from './schema.ts'

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
  db: Kysely<Schema>,
  table: 'postern_session' | 'postern_service_token',
  seen: readonly Seen[],
): Promise<void> {
  const latest = new Map<string, number>()
  for (const { id, seenAt } of seen) latest.set(id, Math.max(latest.get(id) ?? 0, seenAt))
  const ids = [...latest.keys()]
  await inTransaction(db, async (inside) => {
    const { rows } = await sql<{ id: string; seen: string }>`
      select token_id as "id", coalesce(seen_ms, 0)::text as "seen" from ${sql.table(table)}
      where token_id in ${listOf(ids)} for update skip locked`.execute(inside)
    const older = rows.flatMap(({ id, seen: known }) => {
      const at = latest.get(id) ?? 0
      return at > Number(known) ? [{ id, at }] : []
    })
    if (older.length === 0) return
    await sql`
      update ${sql.table(table)} set seen_ms = (
        select at from ${tableOf('known', { id: 'text', at: 'bigint' }, older)} where id = token_id)
      where token_id in ${listOf(older.map(({ id }) => id))}`.execute(inside)
  })
}
