import { sql } from 'kysely'
import { liveAccounts } from '../accounts/account-queries.ts'
import type { Database } from '../database/database.ts'
import { withFaults } from '../database/database-fault.ts'
import { utcText } from '../database/utc-text.ts'

/** An account with one-time codes, as operators see it. */
export interface EnrolledAccount {
  readonly userId: string
  readonly username: string
  readonly roleKey: string
  readonly enrolledAt: string | null
  /** Of the key that the secret is encrypted with; empty: `jwt.secret`. */
  readonly keyId: string
  /** The secret, encrypted. Not for output. */
  readonly sealed: string
  readonly recoveryCodesLeft: number
  /** Wrong codes since the last right one. */
  readonly failures: number
}

/**
 * Every live account with one-time codes, in the order of their IDs, or only the one with this ID.
 * Empty without the tables.
 */
export function enrolledAccounts(
  { db, shapes }: Database,
  userId?: string,
): Promise<readonly EnrolledAccount[]> {
  return withFaults(async () => {
    const shape = await shapes()
    if (!shape.optional.has('postern_totp')) return []
    const rows = await liveAccounts(db, shape)
      .innerJoin(sql<Enrolled>`postern_totp`.as('t'), (join) =>
        join.onRef('t.user_id', '=', 'u.user_id'),
      )
      .select(['u.username', 'r.role_key', 't.key_id as keyId', 't.sealed', 't.failures'])
      .select(sql<string>`u.user_id::text`.as('userId'))
      .select(utcText('t.enrolled_at').as('enrolledAt'))
      .select(
        sql<number>`(select count(*)::int from postern_recovery_code c
          where c.user_id = t.user_id and c.used_ms is null)`.as('recoveryCodesLeft'),
      )
      .$if(userId !== undefined, (all) => all.where('u.user_id', '=', userId ?? ''))
      .orderBy('u.user_id')
      .execute()
    return rows.map(({ username, role_key: roleKey, ...rest }) => {
      return { ...rest, username: username ?? '', roleKey: roleKey ?? '' }
    })
  })
}

interface Enrolled {
  readonly user_id: string
  readonly key_id: string
  readonly sealed: string
  readonly failures: number
}
