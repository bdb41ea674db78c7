import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'

interface SeenToken {
  readonly id: string
  /** Milliseconds since the epoch, to the minute. */
  readonly seenAt: number
}

/**
 * Stores when service tokens were last used. Skips rows that another gateway updates at this moment: two
 * must not wait for each other. Does nothing without the table: a gateway runs without it.
 */
export async function markServiceTokens(
  { db, shapes }: Database,
  seen: readonly SeenToken[],
): Promise<void> {
  await withFaults(async () => {
    const { optional } = await shapes()
    if (!optional.has('postern_service_token')) return
    await sql`
      with seen as (
        select id, max("seenAt") as at
        from json_to_recordset(${JSON.stringify(seen)}::json) as entry (id text, "seenAt" bigint)
        group by id
      ), known as (
        select token_id, at from postern_service_token join seen on token_id = id
        where coalesce(seen_ms, 0) < at for update of postern_service_token skip locked
      )
      update postern_service_token as token set seen_ms = known.at
      from known where token.token_id = known.token_id`.execute(db)
  })
}
