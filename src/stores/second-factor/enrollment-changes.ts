import { sql } from 'kysely'
import type { SealedSecret } from '../../login/second-factor/sealed-secret.ts'
import { accountOf, isService, underAccountsLock } from '../accounts/account-queries.ts'
import { type Actor, appendAudit } from '../audit/audit.ts'
import {
  type Database,
  type Inside,
  requireTables,
  type TableShapes,
  withFaults,
} from '../database/database.ts'
import { isStorable } from '../database/dialect.ts'
import { insertRows } from '../database/insert-rows.ts'
import { codesLeft } from './codes-left.ts'
import { forgetSecondFactor } from './forget.ts'

/** The account that login would choose for this name, if it is still the one that was meant. */
interface Whose {
  readonly username: string
  readonly userId: string
}

interface NewEnrollment extends Whose {
  readonly secret: SealedSecret
  /** The time step of the code that confirmed it, which then works no more; 0 without one. */
  readonly lastStep: number
  readonly recoveryDigests: readonly string[]
}

interface NewRecoveryCodes extends Whose {
  /** The secret that the digests are made with. */
  readonly secret: SealedSecret
  readonly recoveryDigests: readonly string[]
}

/** Why nothing changed. */
export type Unchanged = 'no-such-user' | 'service-account' | 'not-enrolled'

/** How operators change one-time codes. A change and its audit row are one transaction. */
export function createEnrollmentChanges(database: Database, actor: Actor) {
  /** `work` returns what became of it, for the audit log, where a secret never is. */
  async function change(
    whose: Whose,
    work: (inside: Inside, was: Summary | undefined) => Promise<Summary | Unchanged>,
  ): Promise<'done' | Unchanged> {
    if (!isStorable(whose.username)) return 'no-such-user'
    return underAccountsLock(database, async (inside, shapes) => {
      requireTables(shapes, 'postern_totp', 'postern_recovery_code')
      const problem = await missing(inside, shapes, whose)
      if (problem !== undefined) return problem
      const before = await summaryOf(inside, whose.userId)
      const after = await work(inside, before)
      if (typeof after === 'string') return after
      const entry = { actor, action: 'user.totp', subject: whose.username } as const
      await appendAudit(inside, shapes, [{ ...entry, before: before ?? off, after }])
      return 'done'
    })
  }

  return {
    /** Replaces what the account had. */
    enroll: ({ secret, lastStep, recoveryDigests, ...whose }: NewEnrollment) =>
      change(whose, async (inside) => {
        const { userId } = whose
        const { keyId, sealed } = secret
        await forgetSecondFactor(inside, [userId])
        await inside
          .insertInto('postern_totp')
          .values({ user_id: userId, key_id: keyId, sealed, last_step: lastStep })
          .execute()
        await insertCodes(inside, userId, recoveryDigests)
        return { enrolled: true, recoveryCodes: recoveryDigests.length }
      }),
    remove: (whose: Whose) =>
      change(whose, async (inside, before) => {
        if (before === undefined) return 'not-enrolled'
        await forgetSecondFactor(inside, [whose.userId])
        return off
      }),
    replaceRecoveryCodes: ({ secret, recoveryDigests, ...whose }: NewRecoveryCodes) =>
      change(whose, async (inside) => {
        const { userId } = whose
        const own = inside.selectFrom('postern_totp').where('user_id', '=', userId)
        const same = own.select('user_id').where('sealed', '=', secret.sealed).forUpdate()
        if ((await same.executeTakeFirst()) === undefined) return 'not-enrolled'
        await inside.deleteFrom('postern_recovery_code').where('user_id', '=', userId).execute()
        await insertCodes(inside, userId, recoveryDigests)
        return { enrolled: true, recoveryCodes: recoveryDigests.length }
      }),
  }
}

/** Replaces the encryption of a secret, not the secret. Whether it was still as `checked`. */
export function reencryptSecret(
  { db }: Database,
  userId: string,
  checked: SealedSecret,
  { keyId, sealed }: SealedSecret,
): Promise<boolean> {
  return withFaults(async () => {
    const own = db.updateTable('postern_totp').where('user_id', '=', userId)
    const same = own.set({ key_id: keyId, sealed }).where('sealed', '=', checked.sealed)
    return (await same.executeTakeFirst()).numUpdatedRows === 1n
  })
}

/** What the audit log says of an account. */
interface Summary {
  readonly [field: string]: unknown
  readonly enrolled: boolean
  readonly recoveryCodes: number
}

const off: Summary = { enrolled: false, recoveryCodes: 0 }

async function missing(
  inside: Inside,
  shapes: TableShapes,
  { username, userId }: Whose,
): Promise<Unchanged | undefined> {
  const row = await accountOf(inside, shapes, username)
    .select(['u.user_id as userId', isService(shapes).as('service')])
    .executeTakeFirst()
  if (row?.userId !== userId) return 'no-such-user'
  return row.service ? 'service-account' : undefined
}

async function summaryOf(inside: Inside, userId: string): Promise<Summary | undefined> {
  const row = await inside
    .selectFrom('postern_totp as t')
    .select(codesLeft(inside, sql.ref('t.user_id')).as('left'))
    .where('t.user_id', '=', userId)
    .forUpdate('t')
    .executeTakeFirst()
  return row && { enrolled: true, recoveryCodes: Number(row.left) }
}

async function insertCodes(
  inside: Inside,
  userId: string,
  digests: readonly string[],
): Promise<void> {
  const rows = digests.map((digest) => ({ user_id: userId, digest }))
  await insertRows(inside, 'postern_recovery_code', rows)
}
