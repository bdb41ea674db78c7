import type { Inside } from '../database/database.ts'
import { idsOf } from '../database/dialect.ts'

/** Deletes the one-time codes and recovery codes of these users. Both tables must exist. */
export async function forgetSecondFactor(
  inside: Inside,
  userIds: readonly string[],
): Promise<void> {
  const ids = idsOf(userIds)
  await inside.deleteFrom('postern_totp').where('user_id', 'in', ids).execute()
  await inside.deleteFrom('postern_recovery_code').where('user_id', 'in', ids).execute()
}
