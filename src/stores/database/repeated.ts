import { setTimeout as pause } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { isConflict } from './database-fault.ts'
import type { Schema } from './tables.ts'

const maxAttempts = 5
/** PostgreSQL looks for a deadlock after a second, and a lock of MySQL times out after that. */
const maxMs = 3000
const firstPauseMs = 10

/**
 * Runs `work` in a transaction, and again when the database rolled it back because of a concurrent
 * change. So `work` changes nothing but the database.
 */
export function inTransaction<Result>(
  db: Kysely<Schema>,
  work: (inside: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  return repeated(() => db.transaction().execute(work))
}

/** Repeats one transaction or one statement, a few times. A lost connection may have committed. */
export async function repeated<Result>(work: () => Promise<Result>): Promise<Result> {
  const start = performance.now()
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const isLast = attempt === maxAttempts || performance.now() - start > maxMs
      if (isLast || !isConflict(error)) throw error
    }
    // Two that met must not meet again.
    await pause(Math.random() * firstPauseMs * 2 ** attempt)
  }
}
