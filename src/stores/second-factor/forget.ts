import { sql, type Transaction } from 'kysely'
import { idsOf } from '../database/dialect.ts'
import type { Schema } from '../database/schema.ts'

/** Deletes the one-time codes and recovery codes of these users. Both tables must exist. */
export async function forgetSecondFactor(
  inside: Transaction<Schema>,
  userIds: readonly string[],
): Promise<void> {
  const ids = idsOf(userIds)
  await sql`delete from postern_totp where user_id in ${ids}`.execute(inside)
  await sql`delete from postern_recovery_code where user_id in ${ids}`.execute(inside)
}
