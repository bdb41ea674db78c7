import { sql } from 'kysely'
import { liveAccounts } from '../accounts/account-queries.ts'
import { type Database, withFaults } from '../database/database.ts'
import { utcText } from '../database/dialect.ts'
import { codesLeft } from './codes-left.ts'

/** An account with one-time codes, as operators see it. */
export type EnrolledAccount = Awaited<ReturnType<typeof enrolledAccounts>>[number]

/**
 * Every live account with one-time codes, in the order of their IDs, or only the one with this ID.
 * Empty without the tables. `keyId` is of the key that the secret is encrypted with (empty:
 * `jwt.secret`), `sealed` the encrypted secret, not for output, and `failures` are wrong codes since
 * the last right one.
 */
export function enrolledAccounts({ db, shapes }: Database, userId?: string) {
  return withFaults(async () => {
    const shape = await shapes()
    if (!shape.optional.has('postern_totp')) return []
    const rows = await liveAccounts(db, shape)
      .innerJoin('postern_totp as t', 't.user_id', 'u.user_id')
      .select(['u.username', 'r.role_key', 't.key_id as keyId', 't.sealed', 't.failures'])
      .select(['u.user_id as userId', utcText('t.enrolled_at').as('enrolledAt')])
      .select(codesLeft(db, sql.ref('t.user_id')).as('codes'))
      .$if(userId !== undefined, (all) => all.where('u.user_id', '=', userId ?? ''))
      .orderBy('u.user_id')
      .execute()
    return rows.map(({ username, role_key: roleKey, codes, ...rest }) => ({
      ...{ ...rest, username: username ?? '', roleKey: roleKey ?? '' },
      recoveryCodesLeft: Number(codes),
    }))
  })
}
