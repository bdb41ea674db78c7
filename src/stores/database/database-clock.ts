import { sql } from 'kysely'
import type { Database } from './database.ts'
import { withFaults } from './database-fault.ts'
import { clock, epochMs } from './dialect.ts'

/**
 * A clock that agrees with the database: milliseconds since the epoch. Gateways check tokens that a
 * command dates, and the clock of an operator's machine may be minutes ahead of theirs.
 */
export async function databaseClock({ db }: Database): Promise<() => number> {
  return withFaults(async () => {
    const { rows } = await sql<{ now: string }>`select ${epochMs(clock)} as now`.execute(db)
    const ahead = Date.now() - Number(rows[0]?.now ?? Date.now())
    return () => Date.now() - ahead
  })
}
