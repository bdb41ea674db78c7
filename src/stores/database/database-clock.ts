import { type Database, withFaults } from './database.ts'
import { nowMs } from './dialect.ts'

/**
 * A clock that agrees with the database: milliseconds since the epoch. Gateways check tokens that a
 * command dates, and the clock of an operator's machine may be minutes ahead of theirs.
 */
export async function databaseClock({ db }: Database): Promise<() => number> {
  return withFaults(async () => {
    const { now } = await db.selectNoFrom(nowMs.as('now')).executeTakeFirstOrThrow()
    const ahead = Date.now() - Number(now)
    return () => Date.now() - ahead
  })
}
