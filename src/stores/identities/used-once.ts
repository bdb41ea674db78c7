import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { createBounded } from '../accounts/bounded.ts'
import type { Database } from '../database/database.ts'
import { either, nowMs } from '../database/dialect.ts'
import { requireTable } from '../database/table-shapes.ts'

/** Names that count once, on whichever gateway. */
export interface UsedOnce {
  /**
   * Whether this is the first claim of a name. It stays claimed until the moment `untilMs`, in
   * milliseconds since the epoch. Throws a Fault when the database cannot say.
   */
  claim(name: string, untilMs: number): Promise<boolean>
}

/** Clocks of gateways differ: one may accept a minute longer what another considers expired. */
const marginMs = 60_000
/** How many expired names one claim deletes: more than it adds, so the table shrinks after a peak. */
const mostDeleted = 100

/** `now` gives milliseconds since the epoch. Nothing takes longer than `timeoutMs`. */
export function createUsedOnce(
  { db, shapes }: Database,
  { now = Date.now, timeoutMs = 10_000 }: { now?: () => number; timeoutMs?: number } = {},
): UsedOnce {
  const bounded = createBounded(timeoutMs)

  async function claim(name: string, untilMs: number): Promise<boolean> {
    requireTable(await shapes(), 'postern_used_once')
    // By the clock of the database, which also decides what has expired.
    const keepMs = Math.max(0, Math.ceil(untilMs - now())) + marginMs
    const digest = createHash('sha256').update(name).digest('base64url')
    await sql`
      delete from postern_used_once where name in (select name from (
        select name from postern_used_once where until_ms < ${nowMs} and name <> ${digest}
        order by until_ms limit ${mostDeleted}::int for update skip locked) as expired)`.execute(db)
    const { numAffectedRows } = await insertNew(digest, keepMs).execute(db)
    return numAffectedRows === 1n
  }

  return { claim: (name, untilMs) => bounded(() => claim(name, untilMs)) }
}

/** Affects one row, or none if the name is there. */
function insertNew(name: string, keepMs: number) {
  const values = sql`select ${name}, ${nowMs} + ${keepMs}::bigint`
  return either(
    sql`insert into postern_used_once (name, until_ms) ${values} on conflict (name) do nothing`,
    // Not "on duplicate key": that affects a row as well. Nothing here can be cut: digest and number.
    sql`insert ignore into postern_used_once (name, until_ms) ${values}`,
  )
}
