import { createHash } from 'node:crypto'
import { createBounded } from '../accounts/bounded.ts'
import { type Database, requireTables } from '../database/database.ts'
import { nowMs } from '../database/dialect.ts'

/** Clocks of gateways differ: one may accept a minute longer what another considers expired. */
const marginMs = 60_000
/** How many expired names one claim deletes: more than it adds, so the table shrinks after a peak. */
const mostDeleted = 100

/**
 * Names that count once, on whichever gateway. `now` gives milliseconds since the epoch. Nothing
 * takes longer than `timeoutMs`.
 */
export function createUsedOnce(
  { db, shapes }: Database,
  { now = Date.now, timeoutMs = 10_000 }: { now?: () => number; timeoutMs?: number } = {},
) {
  const bounded = createBounded(timeoutMs)

  async function claim(name: string, untilMs: number): Promise<boolean> {
    requireTables(await shapes(), 'postern_used_once')
    // By the clock of the database, which also decides what has expired.
    const keepMs = Math.max(0, Math.ceil(untilMs - now())) + marginMs
    const digest = createHash('sha256').update(name).digest('base64url')
    const others = db.selectFrom('postern_used_once').select('name').where('name', '<>', digest)
    const oldest = others.where('until_ms', '<', nowMs).orderBy('until_ms').limit(mostDeleted)
    const expired = db.selectFrom(oldest.forUpdate().skipLocked().as('expired')).select('name')
    await db.deleteFrom('postern_used_once').where('name', 'in', expired).execute()
    const { numInsertedOrUpdatedRows: inserted } = await db
      .insertInto('postern_used_once')
      .values(({ eb }) => ({ name: digest, until_ms: eb(nowMs, '+', String(keepMs)) }))
      // Without a key, so that every database counts only a row that is new.
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    return inserted === 1n
  }

  return {
    /**
     * Whether this is the first claim of a name. It stays claimed until the moment `untilMs`, in
     * milliseconds since the epoch. Throws a Fault when the database cannot say.
     */
    claim: (name: string, untilMs: number) => bounded(() => claim(name, untilMs)),
  }
}
