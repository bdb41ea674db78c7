import type { Transaction } from 'kysely'
import type { Database } from '../database/database.ts'
import { isDuplicate, withFaults } from '../database/database-fault.ts'
import { lockUntilCommit } from '../database/dialect.ts'
import { inTransaction } from '../database/repeated.ts'
import type { TableShapes } from '../database/table-shapes.ts'
import type { Schema } from '../database/tables.ts'

export type Inside = Transaction<Schema>

/**
 * Lets one Postern process at a time change accounts and roles, until the transaction ends. Databases
 * older than go-admin's unique index would accept the same name twice, two operators could disable each
 * other's last admin, and a role could be removed while an account gets it.
 */
export async function lockAccounts(inside: Inside): Promise<void> {
  await lockUntilCommit('postern_accounts').execute(inside)
}

/** Runs one change in a transaction under that lock. Every error of the driver becomes a Fault. */
export async function underAccountsLock<Result>(
  { db, shapes }: Database,
  work: (inside: Inside, shapes: TableShapes) => Promise<Result>,
): Promise<Result> {
  return withFaults(async () => {
    const shape = await shapes()
    return inTransaction(db, async (inside) => {
      await lockAccounts(inside)
      return work(inside, shape)
    })
  })
}

/**
 * The outcome of a change that a unique index rejected. That of go-admin on MySQL also rejects a name
 * that differs only in letter case or accents.
 */
export function ifTaken<Outcome extends string>(outcome: Outcome) {
  return (error: unknown): Outcome => {
    if (isDuplicate(error)) return outcome
    throw error
  }
}
